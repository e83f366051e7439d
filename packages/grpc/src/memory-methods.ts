/** Calls about shared memory: what is registered, and how that changes. */
import { type Answer, nameOf, type Plain, text } from './plain-message.ts';

export const MEMORY_ANSWERS: Readonly<Record<string, Answer>> = {
  SystemSharedMemoryStatus: (request, { sharedMemory }) => ({
    regions: Object.fromEntries(sharedMemory.status(nameOf(request)).map((region) => [region.name, { ...region }])),
  }),
  SystemSharedMemoryRegister: (request, { sharedMemory }) => {
    sharedMemory.register({
      name: nameOf(request),
      key: text(request, 'key'),
      offset: size(request, 'offset'),
      byteSize: size(request, 'byteSize'),
    });
    return {};
  },
  SystemSharedMemoryUnregister: (request, { sharedMemory }) => {
    sharedMemory.unregister(nameOf(request));
    return {};
  },
  CudaSharedMemoryStatus: (request, { sharedMemory }) => {
    sharedMemory.cuda.status(nameOf(request));
    return {};
  },
  CudaSharedMemoryRegister: (request, { sharedMemory }) => sharedMemory.cuda.register(nameOf(request)),
  CudaSharedMemoryUnregister: (_, { sharedMemory }) => {
    sharedMemory.cuda.unregister();
    return {};
  },
};

/** A field of type uint64. Beyond the safe range a double is exact enough: nothing is so large. */
function size(request: Plain, field: string): number {
  return Number(request[field] ?? 0);
}

import type { ProcessSample } from './process-monitor.ts';
import { type Family, formatLabel, histogramSeries, type Series } from './text.ts';

export interface ProcessFamily extends Family {
  readonly series: readonly Series[];
}

/**
 * What a sample becomes, in the order of Triton. There is no pinned memory on the CPU: its families are there, and 0.
 * @param cpu  whether those of the machine's CPUs and memory are among them
 */
export function processFamilies(sample: ProcessSample, { cpu }: { readonly cpu: boolean }): readonly ProcessFamily[] {
  return [
    gauge('nv_pinned_memory_pool_total_bytes', { help: 'Bytes of the pool of pinned memory', value: 0 }),
    gauge('nv_pinned_memory_pool_used_bytes', { help: 'Bytes used of the pool of pinned memory', value: 0 }),
    ...(cpu ? machineFamilies(sample) : []),
    {
      name: 'nereid_event_loop_delay_seconds',
      type: 'histogram',
      help: 'By how much the event loop was late, looked at every 20 ms',
      series: histogramSeries(sample.eventLoopDelay, { plain: '', bound: (le) => `{${formatLabel('le', le)}}` }),
    },
    gauge('nereid_external_memory_bytes', {
      help: 'Bytes that the process holds outside of the JS heap for JS objects: tensors, buffers of sockets',
      value: sample.externalMemoryBytes,
    }),
  ];
}

function machineFamilies({
  cpuUtilization,
  memoryTotalBytes,
  memoryUsedBytes,
}: ProcessSample): readonly ProcessFamily[] {
  return [
    gauge('nv_cpu_utilization', {
      help: 'Part of the CPU time of the machine that is used, 0 to 1',
      value: cpuUtilization,
    }),
    gauge('nv_cpu_memory_total_bytes', { help: 'Bytes of memory of the machine', value: memoryTotalBytes }),
    gauge('nv_cpu_memory_used_bytes', { help: 'Bytes of memory used on the machine', value: memoryUsedBytes }),
  ];
}

function gauge(
  name: string,
  { help, value }: { readonly help: string; readonly value: number | undefined },
): ProcessFamily {
  return { name, type: 'gauge', help, series: value === undefined ? [] : [{ labels: '', value }] };
}

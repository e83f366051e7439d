/** Elements of tensors have at most eight bytes; large memory begins at a multiple of this. */
const ALIGNMENT = 16;

/**
 * Memory for a message that comes in pieces. Its tensors are views of it, and aligned where the place of the first is known and they follow each other: a model
 * takes aligned ones as they lie, others are copied.
 *
 * Untouched pages of a large allocation cost nothing, so announcing much and sending little is no attack.
 * @param allocate  gives aligned memory, which need not be zeroed: `Buffer.allocUnsafeSlow` where there is Node
 * @param tensorsAt  where in the message the tensors begin, if that is known
 */
export function messageMemory<Memory extends Uint8Array>(
  allocate: (byteLength: number) => Memory,
  byteLength: number,
  tensorsAt = 0,
): Memory {
  const shift = (ALIGNMENT - (tensorsAt % ALIGNMENT)) % ALIGNMENT;
  // A view of memory is of its kind.
  return allocate(byteLength + shift).subarray(shift) as Memory;
}

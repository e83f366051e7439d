import { ProtocolError } from './errors.ts';

/** @throws {ProtocolError} `bad-header-length` unless 0 ≤ length ≤ size of the body */
export function assertHeaderLength(headerLength: number, bodyLength: number): void {
  if (Number.isInteger(headerLength) && headerLength >= 0 && headerLength <= bodyLength) return;
  throw new ProtocolError(
    'bad-header-length',
    `inference header size should be in range (0, ${bodyLength}), the bytes of the body, got ${headerLength}`,
  );
}

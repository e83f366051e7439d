/** What came while nobody read. Small pieces are gathered, as each of them would keep alive all that the socket read with it. */
const GATHER_BYTES = 16_384;

export class HeldPieces {
  #pieces: Buffer[] = [];
  #first = 0;
  /** Memory that small pieces are gathered in: all but the last `#free` bytes are the last piece. */
  #block: Buffer | undefined;
  #used = 0;
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  push(piece: Buffer): void {
    this.#byteLength += piece.length;
    if (piece.length >= GATHER_BYTES) {
      this.#block = undefined;
      this.#pieces.push(piece);
      return;
    }
    if (this.#block === undefined || this.#used + piece.length > this.#block.length) {
      this.#block = Buffer.allocUnsafe(GATHER_BYTES);
      this.#used = 0;
      this.#pieces.push(NOTHING);
    }
    this.#block.set(piece, this.#used);
    this.#used += piece.length;
    this.#pieces[this.#pieces.length - 1] = this.#block.subarray(0, this.#used);
  }

  /** The oldest piece; undefined when nothing is held. */
  shift(): Buffer | undefined {
    const piece = this.#pieces[this.#first];
    if (piece === undefined) return undefined;
    this.#first++;
    if (this.#first === this.#pieces.length) {
      this.#pieces = [];
      this.#first = 0;
      this.#block = undefined;
    }
    this.#byteLength -= piece.length;
    return piece;
  }
}

const NOTHING = Buffer.alloc(0);

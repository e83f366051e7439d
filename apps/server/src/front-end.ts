/** A protocol that is served. */
export interface FrontEnd {
  /** `host:port`, or `unix:PATH`, that it listens on. */
  readonly place: string;
  /** Takes no more connections and waits for the answers under way; what a client does not read within a moment is cut off. */
  close(): Promise<void>;
}

const LAST_BYTES_MS = 2000;

/** Closes what listens; after a moment also the connections of clients that do not read their answers. */
export async function closePatiently(close: () => Promise<void>, cutOff: () => void): Promise<void> {
  const impatience = setTimeout(cutOff, LAST_BYTES_MS);
  await close();
  clearTimeout(impatience);
}

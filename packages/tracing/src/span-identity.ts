/** The numbers of a trace's first span, known before it is made. */
export interface SpanIdentity {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

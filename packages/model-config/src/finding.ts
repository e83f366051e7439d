/** What a rule or a step of the pipeline has to say, before it gets its place in the file. */
export interface Finding {
  /** An `error` keeps the model from being loaded; `error` unless given. */
  readonly severity?: 'warning';
  /** Where, e.g. `input[1].dims[0]`; empty for the configuration as a whole. */
  readonly path: string;
  /** What is wrong, with which model or tensor, and what to do. */
  readonly message: string;
}

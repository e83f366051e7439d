/** One finding of `nereid check`. The shape of its JSON: plain data. */
export interface CheckProblem {
  /** An error keeps the model, or a version of it, from being served. */
  readonly severity: 'error' | 'warning';
  readonly model: string;
  /** Absent when it concerns the model as a whole. */
  readonly version?: string;
  /** Of a configuration; absent for what stands in no file. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  readonly message: string;
}

/** One row of `nereid doctor`. */
export interface Finding {
  readonly name: string;
  /** `problem` keeps models from being served; `note` limits which ones. */
  readonly state: 'ok' | 'note' | 'problem';
  /** What was found. */
  readonly found: string;
  /** More lines on it. */
  readonly details?: readonly string[];
  /** What to do; absent when it is ok. */
  readonly remedy?: string;
}

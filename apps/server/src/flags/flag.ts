/** What an option of the server is, as data. */

export type FlagGroup =
  | 'Models'
  | 'HTTP'
  | 'gRPC'
  | 'Metrics'
  | 'Scheduling'
  | 'Logging'
  | 'Tracing'
  | 'Process'
  | 'Accepted without effect';

interface FlagBase {
  readonly group: FlagGroup;
  readonly help: string;
  /** Why the option has no effect; it is then accepted and warned about. */
  readonly ignored?: string;
  readonly alias?: string;
  /** The option is not one of Triton, though its alias is; the beginnings of names that are go before those of it. */
  readonly ours?: true;
  /** The value is a path, after these characters; in a file of options it is then relative to that file. */
  readonly path?: string;
}

/** How a map in a file of options is written as a value. */
export interface MapForm {
  /** Stands between key and value. */
  readonly sign: '=' | ':';
  /** Maps in one another: 1 is `key=value`, 2 also `name,key=value`, 3 also `name,key=key=value`. */
  readonly depth: 1 | 2 | 3;
}

export type Flag = FlagBase &
  (
    | { readonly kind: 'bool'; readonly default: boolean }
    /** A bool that needs no value. */
    | { readonly kind: 'flag'; readonly default: boolean }
    | {
        readonly kind: 'int' | 'float';
        readonly default: number;
        readonly min: number;
        readonly max: number;
        readonly unit?: string;
      }
    | { readonly kind: 'string'; readonly default: string; readonly placeholder: string }
    | {
        readonly kind: 'list';
        readonly default: readonly string[];
        readonly placeholder: string;
        readonly map?: MapForm;
      }
    | { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] }
    /** Accepted in any form; never read. */
    | { readonly kind: 'any'; readonly default: undefined }
  );

export const PORT_MAX = 65_535;
export const INT_MAX = 2_147_483_647;

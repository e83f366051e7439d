/** Something the user has to put right; shown without a stack trace. */
export class Problem extends Error {}

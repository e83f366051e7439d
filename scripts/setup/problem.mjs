/** Something the user has to put right; shown as one sentence without a stack trace. */
export class Problem extends Error {}

import { library } from '../../tsup.base.ts';

/** A program: nothing imports it, so it has no declarations. */
export default library({ entry: ['src/main.ts'], dts: false });

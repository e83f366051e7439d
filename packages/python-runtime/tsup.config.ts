import { library } from '../../tsup.base.ts';

export default library({ entry: ['src/index.ts', 'src/supervisor/index.ts', 'src/transport/index.ts'] });

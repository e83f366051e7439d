import { library } from '../../tsup.base.ts';

export default library({ entry: ['src/index.ts', 'src/http/index.ts', 'src/grpc/index.ts'] });

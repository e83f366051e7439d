import { suite } from '../../vitest.base.ts';

// Without `module`: under it stands a build of OpenTelemetry's API that is for bundlers, and that Node cannot load.
export default { ...suite(), ssr: { resolve: { conditions: ['@nereid/source', 'node', 'default'] } } };

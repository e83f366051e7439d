import { type ContractModelName, runBackendContract } from '../src/contract.ts';
import { addSub, FakeBackend, identity } from '../src/index.ts';

const models = { addsub: { compute: addSub() }, identity: { compute: identity(['y']) } };
const makeModel = (name: ContractModelName) => ({
  name,
  version: '1',
  modelDirectory: `/models/${name}`,
  versionDirectory: `/models/${name}/1`,
  config: undefined,
});

runBackendContract({
  name: 'fake',
  makeBackend: () => new FakeBackend({ models }),
  makeModel,
  skip: { inline: 'it has no executeInline', 'inline-failure': 'it has no executeInline' },
});
runBackendContract({
  name: 'fake that runs inline and takes two batches',
  makeBackend: () => new FakeBackend({ models, inline: true, capacity: 2 }),
  makeModel,
});

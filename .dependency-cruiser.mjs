/**
 * Holds the picture in docs/architecture.md: imports only go down, and along a row only where an arrow is drawn.
 * `MAY_IMPORT` is that picture as data; everything it does not list is refused.
 */
const MAY_IMPORT = {
  core: [],
  native: [],
  pbtxt: ['core'],
  'call-spec': ['core'],
  'model-archive': ['core', 'call-spec'],
  'model-config': ['core', 'pbtxt'],
  batching: ['core'],
  protocol: ['core'],
  'shared-memory': ['core'],
  repository: ['core', 'model-config'],
  'python-runtime': ['core', 'model-config'],
  'strategy-library': ['core', 'model-config', 'native'],
  'pytorch-backend': ['core', 'model-config', 'call-spec', 'model-archive', 'native'],
  serving: ['core', 'model-config', 'repository', 'batching'],
  http: ['core', 'model-config', 'protocol', 'serving', 'shared-memory'],
  grpc: ['core', 'model-config', 'serving', 'shared-memory'],
  client: ['core', 'model-config', 'protocol', 'grpc'],
  'http-docs': ['core'],
  metrics: ['core', 'serving'],
  tracing: ['core'],
  testing: ['core', 'model-config'],
};

const folderOf = (name) => (name === 'native' ? '^native/' : `^packages/${name}/`);

/** Tests and benches may also take the test parts and whatever they put together; shipped code may not. */
const arrows = Object.entries(MAY_IMPORT).map(([name, allowed]) => ({
  name: `arrows-of-${name}`,
  comment: `${name} may import ${allowed.length ? allowed.join(', ') : 'nothing of ours'}: see docs/architecture.md`,
  severity: 'error',
  from: { path: `${folderOf(name)}(src|loader|lib)` },
  to: {
    path: ['^packages/', '^apps/', '^native/'],
    pathNot: [folderOf(name), ...allowed.map(folderOf)],
  },
}));

export default {
  forbidden: [
    ...arrows,
    {
      name: 'apps-are-on-top',
      comment: 'only an app may import an app',
      severity: 'error',
      from: { path: '^(packages|native)/[^/]+/(src|lib)' },
      to: { path: '^apps/' },
    },
    {
      name: 'no-way-around-a-package',
      comment: 'take a sibling by its name, never by a relative path',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/src' },
      to: {
        path: '^(packages|apps|native)/',
        pathNot: [
          '^$1/$2/',
          '^(packages|apps)/[^/]+/(dist|src)/index',
          '^packages/grpc/(dist|src)/messages',
          '^packages/client/(dist|src)/(http|grpc)/index',
          '^native/(loader\\.js|binding\\.d\\.ts|lib/)',
        ],
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: { path: '/src/' }, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|build|build-asan)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@nereid/source', 'types', 'node', 'import', 'default'],
    },
  },
};

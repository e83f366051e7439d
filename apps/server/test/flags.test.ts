import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { optionsFromFlags, parseFlags, serveHelp, UsageError } from '../src/index.ts';
import { portWarnings } from '../src/port-sharing.ts';

const repository = '--model-repository=/models';
const USUAL_QUANTILES = [
  { quantile: 0.5, error: 0.05 },
  { quantile: 0.9, error: 0.01 },
  { quantile: 0.95, error: 0.001 },
  { quantile: 0.99, error: 0.001 },
  { quantile: 0.999, error: 0.001 },
];
const values = (...argv: string[]) => parseFlags([repository, ...argv]).values;

describe('options are read as Triton reads them', () => {
  test.each([
    ['a value after an equals sign', ['--http-port=9000'], 'http-port', 9000],
    ['a value as the next word', ['--http-port', '9000'], 'http-port', 9000],
    ['an unambiguous beginning', ['--http-por=9000'], 'http-port', 9000],
    ['the alias', ['--model-store=/other'], 'model-repository', ['/models', '/other']],
    ['a beginning of the alias', ['--model-st', '/other'], 'model-repository', ['/models', '/other']],
    ['the last of a repeated option', ['--id=a', '--id=b'], 'id', 'b'],
    [
      'every one of a list',
      ['--model-repository', '/b', '--model-repository=/c'],
      'model-repository',
      ['/models', '/b', '/c'],
    ],
    ['true', ['--exit-on-error=TRUE'], 'exit-on-error', true],
    ['on', ['--exit-on-error=on'], 'exit-on-error', true],
    ['1', ['--exit-on-error', '1'], 'exit-on-error', true],
    ['off', ['--strict-readiness=Off'], 'strict-readiness', false],
    ['0', ['--strict-readiness=0'], 'strict-readiness', false],
    ['a flag without a value', ['--disable-auto-complete-config'], 'disable-auto-complete-config', true],
    ['a choice in any case', ['--log-format=iso8601'], 'log-format', 'ISO8601'],
    ['a value with an equals sign in it', ['--id=a=b'], 'id', 'a=b'],
    ['a number', ['--metrics-interval-ms=0.5e3'], 'metrics-interval-ms', 500],
    ['a whole number with a sign', ['--http-port=+80'], 'http-port', 80],
  ] as const)('%s', (_, argv, name, value) => {
    expect(values(...argv)[name]).toEqual(value);
  });

  test('a flag does not take the next word', () => {
    expect(values('--disable-auto-complete-config', '--id', 'x').id).toBe('x');
  });

  test('an option without effect may stand without a value before another option', () => {
    expect(values('--allow-vertex-ai', '--id', 'x').id).toBe('x');
  });
});

describe('a wrong command line is refused', () => {
  test.each([
    [['--nosuch=1'], "unknown option '--nosuch'"],
    [['--http'], "option '--http' is ambiguous: it may be --http-address, --http-port"],
    [['--'], "unknown option '--'"],
    [[''], "unexpected argument ''"],
    [['-p', '80'], "unexpected argument '-p'"],
    [['--http-port'], "option '--http-port' needs a value"],
    [['--http-port=70000'], 'a whole number from 0 to 65535'],
    [['--http-port=80x'], "got '80x'"],
    [['--http-port=1e3'], "got '1e3'"],
    [['--http-port='], 'a whole number'],
    [['--metrics-interval-ms=often'], "takes a number from 1 to 2147483647, got 'often'"],
    [['--metrics-interval-ms=0'], "got '0'"],
    [['--exit-on-error=yes'], 'takes true or false'],
    [['--http-prot=1'], "unknown option '--http-prot'; did you mean '--http-port'?"],
    [['--log-format=xml'], 'one of auto, default, ISO8601, json'],
    [['--model-config-name='], 'not empty'],
    [['--exit-timeout-secs=-1'], 'from 0'],
  ])('%j', (argv, fragment) => {
    expect(() => parseFlags(argv)).toThrow(UsageError);
    expect(() => parseFlags(argv)).toThrow(fragment);
  });

  test.each([
    [[], '--model-repository must be specified'],
    [['--model-name=a'], '--model-repository must be specified'],
    [[repository, '--model-name=a'], 'there are 1 names and 0 files'],
    [['a/model.pt2', 'b/model.pt2'], "two files would be served as model 'model': give a --model-name for each FILE"],
    [['a.pt2', '--model-name=../x'], "'../x' cannot name a model"],
    [['a.pt2', '--model-name=..'], "'..' cannot name a model"],
    [[repository, '--backend-config=x'], "takes backend,key=value or key=value, got 'x'"],
    [[repository, '--backend-config=default-max-batch-size=-1'], "from 0 to 2147483647, got '-1'"],
    [[repository, '--model-control-mode=poll'], 'is not served by this version'],
    [[repository, '--load-model=a'], "requires setting '--model-control-mode=explicit'"],
    [[repository, '--log-verbose=loud'], "got 'loud'"],
    [[repository, '--http-restricted-api=health'], "takes category[,category]:key=value, got 'health'"],
    [[repository, '--http-restricted-api=health:k='], 'takes category[,category]:key=value'],
    [[repository, '--http-restricted-api=health:a b=v'], "takes the name of a header as key, got 'a b'"],
    [[repository, '--http-restricted-api=health,nosuch:k=v'], "unknown category 'nosuch'; expected one of health,"],
    [
      [repository, '--grpc-restricted-protocol=health,trace:k=v', '--grpc-restricted-protocol=trace:l=v'],
      "'trace' can not be specified in multiple config groups",
    ],
    [
      [repository, '--http-server-cert=c.pem'],
      'certificates for HTTP are given, and TLS is not turned on: add --http-use-ssl',
    ],
    [[repository, '--http-use-ssl=true'], '--http-use-ssl needs --http-server-cert and --http-server-key'],
    [
      [repository, '--http-use-ssl-mutual=true', '--http-server-cert=c', '--http-server-key=k'],
      '--http-use-ssl-mutual needs --http-root-cert',
    ],
    [
      [repository, '--http-cors-origin=page.example'],
      "takes an origin as browsers send it, https://example.com, or *, got 'page.example'",
    ],
    [[repository, '--http-cors-origin=https://page.example/'], "got 'https://page.example/'"],
    [[repository, '--http-header-forward-pattern=('], "option '--http-header-forward-pattern': Invalid regular"],
    [[repository, '--grpc-header-forward-pattern=[[:alpha:]]'], "option '--grpc-header-forward-pattern': Invalid"],
  ])('together: %j', (argv, fragment) => {
    expect(() => optionsFromFlags(parseFlags(argv))).toThrow(UsageError);
    expect(() => optionsFromFlags(parseFlags(argv))).toThrow(fragment);
  });
});

describe('options become what the server is made of', () => {
  const read = (...argv: string[]) => optionsFromFlags(parseFlags([repository, ...argv]));

  test('an option without effect is warned about once, with the reason', () => {
    expect(read('--allow-gpu-metrics=true', '--allow-gpu-metrics=false').warnings).toEqual([
      '--allow-gpu-metrics has no effect: there are no metrics of GPUs in this version',
    ]);
  });

  test.each([
    ['ipv6:[::1]', '::1'],
    ['[::1]', '::1'],
    ['127.0.0.1', '127.0.0.1'],
  ])('the address %s is %s', (text, address) => {
    expect(read('--http-address', text).options.http?.address).toBe(address);
  });

  test.each([
    ['true', 1],
    ['FALSE', 0],
    ['3', 3],
  ])('verbose %s is level %i', (text, level) => {
    expect(read(`--log-verbose=${text}`).options.log.verbose).toBe(level);
  });

  test('a socket in the file system has no port, and metrics stay on the machine', () => {
    const { options } = read('--http-address=unix:/run/nereid.sock', '--grpc-port=8000');
    expect(options.http).toMatchObject({ address: 'unix:/run/nereid.sock', port: 0 });
    expect(options.metrics?.address).toBe('127.0.0.1');
  });

  test('origins and certificates reach HTTP', () => {
    const { options } = read(
      '--http-cors-origin=*',
      '--http-cors-origin=https://a.b:1',
      '--http-use-ssl=1',
      '--http-server-cert=c',
      '--http-server-key=k',
    );
    expect(options.http?.corsOrigins).toEqual(['*', 'https://a.b:1']);
    expect([options.http?.docs, read('--http-docs=false').options.http?.docs]).toEqual([true, false]);
    expect(options.http?.tls).toEqual({ cert: 'c', key: 'k', root: '', requireClientCertificate: false });
  });

  test('restrictions and patterns of headers reach their protocols, values with any sign', () => {
    const { options } = read(
      '--http-restricted-api=health,metadata:key=a=b:c,d',
      '--http-restricted-api=trace:other=v',
      '--http-header-forward-pattern=^my-',
      '--grpc-restricted-protocol=inference:key=v',
    );
    expect(options.http?.restrictedApis).toEqual([
      { categories: ['health', 'metadata'], key: 'key', value: 'a=b:c,d' },
      { categories: ['trace'], key: 'other', value: 'v' },
    ]);
    expect(options.grpc?.restrictedProtocols).toEqual([{ categories: ['inference'], key: 'key', value: 'v' }]);
    expect([options.http?.forwardHeaders, options.grpc?.forwardHeaders]).toEqual(['^my-', undefined]);
  });

  test('libraries of operators may be repeated, and weights are exchanged only when that is allowed', () => {
    expect(read().options).toMatchObject({ customOps: [], allowWeightUpdates: false });
    const { options } = read('--custom-ops=/a.so', '--custom-ops', 'b.so', '--allow-weight-updates=true');
    expect(options).toMatchObject({ customOps: ['/a.so', 'b.so'], allowWeightUpdates: true });
  });

  test('shared memory is off unless it is turned on, by either name', () => {
    expect(read().options.allowSharedMemory).toBe(false);
    expect(read('--allow-shared-memory=true').options.allowSharedMemory).toBe(true);
    const { options, warnings } = read('--allow-client-shm=true');
    expect([options.allowSharedMemory, warnings]).toEqual([true, []]);
  });

  test('the backend directory is none unless it is named, and is then absolute', () => {
    expect(read().options.backendDirectory).toBeUndefined();
    expect(read('--backend-directory=/opt/backends').options.backendDirectory).toBe('/opt/backends');
    expect(read('--backend-directory=backends').options.backendDirectory).toBe(resolve('backends'));
  });

  test('every bound on what a client may cost is chosen', () => {
    const { options, warnings } = read(
      ...['http-send-timeout-ms=1', 'http-max-head-size=2', 'http-max-waiting-size=3'].map((text) => `--${text}`),
      ...['http-max-json-depth=4', 'http-max-json-values=5', 'http-max-tensors=6'].map((text) => `--${text}`),
      ...['grpc-max-tensors=7', 'grpc-max-parameters=8', 'grpc-max-dimensions=9'].map((text) => `--${text}`),
      ...['grpc-max-concurrent-calls=10', 'grpc-max-stream-requests=11'].map((text) => `--${text}`),
      ...['grpc-max-waiting-size=12', 'decoupled-max-waiting-responses=13'].map((text) => `--${text}`),
      ...['http-max-call-size=16', 'grpc-max-call-size=17', 'grpc-max-fields=18'].map((text) => `--${text}`),
      ...['grpc-max-metadata-size=19', 'grpc-call-window-size=70000'].map((text) => `--${text}`),
      ...['grpc-connection-window-size=80000', 'grpc-max-frame-size=20000'].map((text) => `--${text}`),
      ...['grpc-max-resets=20', 'grpc-max-resets-per-second=21'].map((text) => `--${text}`),
      ...['grpc-max-idle-frames=22', 'grpc-max-idle-frames-per-second=23'].map((text) => `--${text}`),
      ...['grpc-max-control-size=24', 'grpc-begin-timeout-ms=25'].map((text) => `--${text}`),
      ...['decoupled-max-streams=14', 'shared-memory-max-regions=15'].map((text) => `--${text}`),
      '--trace-max-responses=26',
    );
    expect(warnings).toEqual([]);
    expect(options).toMatchObject({
      maxUnreleasedResponses: 13,
      maxConcurrentStreams: 14,
      maxSharedMemoryRegions: 15,
      maxTracedResponses: 26,
      http: {
        sendTimeoutMs: 1,
        maxHeadBytes: 2,
        maxCallBodyBytes: 16,
        maxWaitingBytes: 3,
        limits: { maxJsonDepth: 4, maxJsonValues: 5, maxTensors: 6 },
      },
      grpc: {
        limits: { maxTensors: 7, maxParameters: 8, maxDimensions: 9, maxFields: 18 },
        maxCallMessageBytes: 17,
        http2: {
          maxConcurrentCalls: 10,
          maxMetadataBytes: 19,
          callWindowBytes: 70_000,
          connectionWindowBytes: 80_000,
          maxFrameBytes: 20_000,
          resets: { burst: 20, perSecond: 21 },
          idleFrames: { burst: 22, perSecond: 23 },
          maxControlBytes: 24,
          beginTimeoutMs: 25,
        },
        maxStreamRequests: 11,
        maxWaitingBytes: 12,
      },
    });
  });

  test("the original's name bounds the responses that wait for a client", () => {
    expect(read('--grpc-max-response-pool-size=2147483647').options.maxUnreleasedResponses).toBe(2_147_483_647);
  });

  test.each([
    ['20.20.2', 2],
    ['22.11.0', 2],
    ['22.12.0', 0],
    ['23.0.0', 2],
    ['23.1.0', 0],
    ['24.0.0', 0],
  ])('a port is shared where Node.js can do that: %s', (node, warnings) => {
    const { values } = parseFlags(['--reuse-http-port=true', '--reuse-grpc-port=true']);
    expect(portWarnings(values, node)).toHaveLength(warnings);
    expect(portWarnings(parseFlags([]).values, node)).toEqual([]);
  });

  test('how connections of gRPC are watched, and how long they live, is chosen', () => {
    const { options, warnings } = read(
      '--grpc-keepalive-time=1000',
      '--grpc-keepalive-timeout=2000',
      '--grpc-keepalive-permit-without-calls=true',
      '--grpc-http2-max-pings-without-data=3',
      '--grpc-http2-min-recv-ping-interval-without-data=4000',
      '--grpc-http2-max-ping-strikes=5',
      '--grpc-max-connection-age=6000',
      '--grpc-max-connection-age-grace=2147483647',
    );
    expect(warnings).toEqual([]);
    expect(options.grpc?.connections).toEqual({
      keepaliveTimeMs: 1000,
      keepaliveTimeoutMs: 2000,
      keepalivePermitWithoutCalls: true,
      maxPingsWithoutData: 3,
      minPingIntervalMs: 4000,
      maxPingStrikes: 5,
      maxAgeMs: 6000,
      maxAgeGraceMs: 2_147_483_647,
    });
  });

  test('gRPC takes a free port where HTTP does, unless it is told', () => {
    expect(read().options.grpc?.port).toBe(8001);
    expect(read('--http-port=0').options.grpc?.port).toBe(0);
    expect(read('--http-port=0', '--grpc-port=9001').options.grpc?.port).toBe(9001);
    expect(read('--allow-grpc=false').options.grpc).toBeUndefined();
  });

  test.each<[argv: string[], metrics: object | undefined]>([
    [[], { address: '127.0.0.1', port: 8002, intervalMs: 2000 }],
    [['--http-address=0.0.0.0'], { address: '0.0.0.0', port: 8002 }],
    [['--http-address=0.0.0.0', '--metrics-address=ipv6:[::1]'], { address: '::1' }],
    [['--metrics-port=9002', '--metrics-interval-ms=500'], { port: 9002, intervalMs: 500 }],
    [['--http-port=0'], { port: 0 }],
    [['--http-port=0', '--metrics-port=9002'], { port: 9002 }],
    [['--allow-http=false', '--metrics-port=0'], { port: 0 }],
    [['--allow-metrics=false', '--metrics-port=9002'], undefined],
    [[], { cpu: true, counterLatencies: true, histogramLatencies: false, summaryQuantiles: [] }],
    [['--allow-cpu-metrics=false'], { cpu: false }],
    [['--metrics-config=counter_latencies=false'], { counterLatencies: false }],
    [['--metrics-config', 'histogram_latencies=ON'], { histogramLatencies: true }],
    [['--metrics-config=counter_latencies=0', '--metrics-config=counter_latencies=1'], { counterLatencies: true }],
    [['--metrics-config=summary_quantiles=0.5:0.05'], { summaryQuantiles: [] }],
    [['--metrics-config=summary_quantiles=0.5:0.05', '--metrics-config=summary_latencies=0'], { summaryQuantiles: [] }],
    [['--metrics-config=summary_latencies=true'], { summaryQuantiles: USUAL_QUANTILES }],
    [
      ['--metrics-config=summary_latencies=1', '--metrics-config=summary_quantiles=.5:0.1, 0.75:0.01'],
      {
        summaryQuantiles: [
          { quantile: 0.5, error: 0.1 },
          { quantile: 0.75, error: 0.01 },
        ],
      },
    ],
  ])('%j serve metrics at %j', (argv, metrics) => {
    const { options, warnings } = read(...argv);
    if (metrics === undefined) expect(options.metrics).toBeUndefined();
    else expect(options.metrics).toMatchObject(metrics);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['x', "takes key=value, got 'x'"],
    ['=true', "takes key=value, got '=true'"],
    ['counter_latencies=', "takes key=value, got 'counter_latencies='"],
    ['counter_latencies=maybe', "option '--metrics-config=counter_latencies' takes true or false"],
    ['counters=true', "summary_latencies, summary_quantiles, got 'counters'"],
    ['summary_quantiles=0.5', "takes quantile:error, separated by commas, e.g. 0.5:0.05,0.99:0.001; got '0.5'"],
    ['summary_quantiles=0.5:0.05,', "got ''"],
    ['summary_quantiles=0.5:0.05,0.9:high', "got '0.9:high'"],
    ['summary_quantiles=1.5:0.05', 'a quantile lies between 0 and 1, got 1.5'],
    ['summary_quantiles=0.5:0', 'the error of quantile 0.5 is at least 0.0001 and below 1, got 0'],
    ['summary_quantiles=0.5:0.1,0.5:0.2', 'got 0.5 twice'],
  ])('--metrics-config=%s is refused', (setting, message) => {
    expect(() => read(`--metrics-config=${setting}`)).toThrow(message);
  });

  test.each([
    [['--grpc-server-cert=c'], 'add --grpc-use-ssl=true'],
    [['--grpc-use-ssl=true'], 'needs --grpc-server-cert and --grpc-server-key'],
    [['--grpc-use-ssl-mutual=true', '--grpc-server-cert=c', '--grpc-server-key=k'], 'needs --grpc-root-cert'],
  ])('certificates for gRPC that do not go together are refused: %j', (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
  });

  test('without --allow-http there is no HTTP', () => {
    expect(read('--allow-http=false').options.http).toBeUndefined();
  });

  test('either spelling asks for configuration files', () => {
    expect(read().options.requireConfig).toBe(false);
    expect(read('--disable-auto-complete-config').options.requireConfig).toBe(true);
    expect(read('--strict-model-config=true').options.requireConfig).toBe(true);
  });
});

describe('files beside options', () => {
  const read = (...argv: string[]) => optionsFromFlags(parseFlags(argv)).options;

  test.each<[argv: string[], names: string[]]>([
    [['model.pt2'], ['model']],
    [['models/My Net (v2).pt'], ['My_Net_v2_']],
    [
      ['nets/.hidden.pt2', 'x.bin'],
      ['hidden', 'x.bin'],
    ],
    [['.pt2'], ['model']],
    [
      ['a.pt2', '--model-name', 'first', 'b.pt2', '--http-port=0', 'c.pt'],
      ['first', 'b', 'c'],
    ],
    [
      ['a/m.pt2', 'b/m.pt2', '--model-name=one', '--model-name=two'],
      ['one', 'two'],
    ],
  ])('%j are served as %j', (argv, names) => {
    expect(read(...argv).files.map(({ name }) => name)).toEqual(names);
  });

  test('go with a repository, and make a model that fails end the server unless told otherwise', () => {
    expect(read(repository, 'a.pt2')).toMatchObject({ repositories: ['/models'], exitOnError: true });
    expect(read('a.pt2', '--exit-on-error=false').exitOnError).toBe(false);
    expect(read(repository).exitOnError).toBe(false);
  });
});

describe('settings of backends', () => {
  const read = (...settings: string[]) =>
    optionsFromFlags(parseFlags([repository, ...settings.map((setting) => `--backend-config=${setting}`)]));

  test.each<[settings: string[], size: number]>([
    [[], 4],
    [['default-max-batch-size=8'], 8],
    [['pytorch,default-max-batch-size=16', 'default-max-batch-size=8'], 16],
    [['default-max-batch-size=8', 'default-max-batch-size=9'], 9],
    [['onnxruntime,default-max-batch-size=2'], 4],
  ])('%j make the default of the largest batch %i', (settings, size) => {
    expect(read(...settings).options.defaultMaxBatchSize).toBe(size);
  });

  test('that nobody reads are warned about', () => {
    expect(read('pytorch,shm-region-prefix-name=a', 'default-max-batch-size=2').warnings).toEqual([
      expect.stringContaining('--backend-config=pytorch,shm-region-prefix-name=a has no effect'),
    ]);
  });
});

describe('the help', () => {
  test('shows every option that has an effect, with its default', () => {
    const help = serveHelp();
    expect(help).toContain('--http-port=N');
    expect(help).toContain('Default 8000.');
    expect(help).not.toContain('--allow-vertex-ai');
  });

  test('shows the others when all are asked for', () => {
    expect(serveHelp({ all: true })).toContain('--allow-vertex-ai');
  });
});

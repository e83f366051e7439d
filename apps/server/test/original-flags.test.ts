/** Every option of the original: known here, with its default or a named difference. */
import { describe, expect, test } from 'vitest';
import { optionsFromFlags, parseFlags, UsageError } from '../src/index.ts';

const NAMES =
  `model-repository model-store model-control-mode load-model repository-poll-secs exit-on-error strict-readiness disable-auto-complete-config
  strict-model-config model-config-name model-load-thread-count model-load-retry-count model-namespacing model-load-gpu-limit enable-peer-access
  min-supported-compute-capability id exit-timeout-secs
  allow-http http-address http-port reuse-http-port http-thread-count http-max-input-size http-header-forward-pattern http-restricted-api
  allow-grpc grpc-address grpc-port reuse-grpc-port grpc-infer-thread-count grpc-infer-allocation-pool-size grpc-max-response-pool-size grpc-use-ssl
  grpc-use-ssl-mutual grpc-server-cert grpc-server-key grpc-root-cert grpc-infer-response-compression-level grpc-keepalive-time grpc-keepalive-timeout
  grpc-keepalive-permit-without-calls grpc-http2-max-pings-without-data grpc-http2-min-recv-ping-interval-without-data grpc-http2-max-ping-strikes
  grpc-max-connection-age grpc-max-connection-age-grace grpc-header-forward-pattern grpc-restricted-protocol
  allow-metrics allow-gpu-metrics allow-cpu-metrics metrics-address metrics-port metrics-interval-ms metrics-config
  log-verbose log-info log-warning log-error log-format log-file trace-config trace-file trace-level trace-rate trace-count trace-log-frequency
  backend-directory backend-config pinned-memory-pool-byte-size cuda-memory-pool-byte-size cuda-virtual-address-size buffer-manager-thread-count host-policy
  rate-limit rate-limit-resource cache-config cache-directory repoagent-directory response-cache-byte-size allow-client-shm
  allow-sagemaker sagemaker-port sagemaker-safe-port-range sagemaker-thread-count
  allow-vertex-ai vertex-ai-port vertex-ai-thread-count vertex-ai-default-model`.split(/\s+/);

/** A value that the option takes, for those that `1` is none for. */
const VALUES: Readonly<Record<string, string>> = {
  'model-control-mode': 'none',
  'log-format': 'default',
  'rate-limit': 'off',
  'grpc-infer-response-compression-level': 'none',
};

test.each(NAMES)('--%s is known', (name) => {
  expect(() => parseFlags([`--${name}=${VALUES[name] ?? '1'}`])).not.toThrow("unknown option '");
});

test.each([
  ['model-control-mode', 'none'],
  ['strict-readiness', true],
  ['disable-auto-complete-config', false],
  ['strict-model-config', false],
  ['model-load-thread-count', 4],
  ['model-load-retry-count', 0],
  ['exit-timeout-secs', 30],
  ['allow-http', true],
  ['http-port', 8000],
  ['http-max-input-size', 67_108_864],
  ['allow-grpc', true],
  ['grpc-port', 8001],
  ['grpc-use-ssl', false],
  ['grpc-use-ssl-mutual', false],
  ['grpc-infer-response-compression-level', 'none'],
  ['reuse-http-port', false],
  ['reuse-grpc-port', false],
  ['grpc-keepalive-time', 7_200_000],
  ['grpc-keepalive-timeout', 20_000],
  ['grpc-keepalive-permit-without-calls', false],
  ['grpc-http2-min-recv-ping-interval-without-data', 300_000],
  ['grpc-http2-max-ping-strikes', 2],
  ['allow-metrics', true],
  ['allow-cpu-metrics', true],
  ['metrics-port', 8002],
  ['metrics-interval-ms', 2000],
  ['log-verbose', '0'],
  ['log-info', true],
  ['log-warning', true],
  ['log-error', true],
  ['log-file', ''],
  ['rate-limit', 'off'],
  ['allow-shared-memory', false],
] as const)('--%s is %j where it is left out, as in the original', (name, value) => {
  expect(parseFlags([]).values[name]).toBe(value);
});

test.each([
  ['exit-on-error', false],
  ['http-address', '127.0.0.1'],
  ['grpc-address', '127.0.0.1'],
  ['id', 'nereid'],
  ['log-format', 'auto'],
  ['decoupled-max-waiting-responses', 16],
  ['grpc-http2-max-pings-without-data', 0],
] as const)('--%s is %j where it is left out, unlike in the original', (name, value) => {
  expect(parseFlags([]).values[name]).toBe(value);
});

/** An option of ours whose whole name is such a beginning. */
const OURS = 'model-name';

test.each(NAMES)('the beginnings of --%s mean it where they do in the original', (name) => {
  const takes = (word: string) => parseFlags([`--${word}=${VALUES[name] ?? '1'}`]).given;
  const own = takes(name);
  for (let length = 1; length < name.length; length++) {
    const word = name.slice(0, length);
    const isOnly = NAMES.filter((other) => other.startsWith(word)).length === 1;
    if (isOnly && word !== OURS) expect(takes(word), word).toEqual(own);
  }
});

test.each([
  ['model-load-thread-count', 2_147_483_647],
  ['exit-timeout-secs', 2_147_483],
  ['grpc-keepalive-time', 2_147_483_647],
  ['metrics-interval-ms', 1500.5],
] as const)('--%s takes %d, as in the original', (name, value) => {
  expect(parseFlags([`--${name}=${value}`]).values[name]).toBe(value);
});

describe('options are checked against each other', () => {
  const read = (...argv: string[]) => optionsFromFlags(parseFlags(['--model-repository=/models', ...argv]));

  test.each([
    [['--grpc-port=8000'], 'HTTP and gRPC are to be served at the same address and port (127.0.0.1:8000)'],
    [['--metrics-port=8001'], 'gRPC and metrics are to be served at the same address and port (127.0.0.1:8001)'],
    [['--http-port=8002'], 'HTTP and metrics are to be served at the same address and port'],
    [['--http-port=8001', '--http-address=0.0.0.0'], 'HTTP and gRPC'],
    [['--grpc-port=8000', '--grpc-address=ipv6:[::]'], 'HTTP and gRPC'],
    [['--trace-config=level'], "option '--trace-config':"],
    [['--trace-config==1'], "option '--trace-config':"],
    [['--trace-config=mode=other'], "option '--trace-config':"],
    [['--trace-config=rate=often'], "option '--trace-config':"],
    [['--trace-config=nosuch=1'], "option '--trace-config':"],
    [['--cache-config=local,size=1', '--response-cache-byte-size=1'], 'give only the first'],
  ])('%j do not go together', (argv, message) => {
    expect(() => read(...argv)).toThrow(UsageError);
    expect(() => read(...argv)).toThrow(message);
  });

  test.each([
    [['--grpc-port=8000', '--grpc-address=127.0.0.2']],
    [['--grpc-port=8000', '--http-address=0.0.0.0', '--grpc-address=ipv6:[::1]']],
    [['--grpc-port=8000', '--allow-http=false']],
    [['--http-port=0', '--grpc-port=0', '--metrics-port=0']],
  ])('%j go together', (argv) => {
    expect(() => read(...argv)).not.toThrow();
  });

  test('of the two spellings of a complete configuration the new one wins, with a warning', () => {
    const { options, warnings } = read('--strict-model-config=false', '--disable-auto-complete-config');
    expect(options.requireConfig).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('which overrules it here')]);
  });

  test('a load is tried again as often as it is told', () => {
    expect(read().options.modelLoadRetryCount).toBe(0);
    expect(read('--model-load-retry-count=3').options.modelLoadRetryCount).toBe(3);
  });

  test('--repository-poll-secs is accepted where nothing is polled', () => {
    expect(read('--repository-poll-secs=5').warnings).toHaveLength(1);
  });
});

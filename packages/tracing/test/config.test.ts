import { describe, expect, it } from 'vitest';
import { parseTraceConfig } from '../src/index.ts';

it('has the defaults of the original', () => {
  expect(parseTraceConfig({ settings: [] })).toMatchObject({
    mode: 'triton',
    file: '',
    values: { levels: [], rate: 1000, count: -1, logFrequency: 0 },
    openTelemetry: { url: 'http://localhost:4318/v1/traces', maxQueueSize: 2048, scheduleDelayMs: 5000 },
  });
});

it('reads every form', () => {
  const settings = [
    'mode=opentelemetry',
    'level=TIMESTAMPS',
    'level=TENSORS',
    'rate=2',
    'count=5',
    'triton,file=/t.json',
  ];
  const more = ['triton,log-frequency=3', 'opentelemetry,url=http://c:1/x', 'opentelemetry,resource=a=b=c'];
  const config = parseTraceConfig({ settings: [...settings, ...more, 'opentelemetry,bsp_max_queue_size=9'] });
  expect(config.values).toEqual({ levels: ['TIMESTAMPS', 'TENSORS'], rate: 2, count: 5, logFrequency: 3 });
  expect(config).toMatchObject({ mode: 'opentelemetry', file: '/t.json', openTelemetry: { maxQueueSize: 9 } });
  expect(config.openTelemetry.resource.get('a')).toBe('b=c');
});

it('takes older options where the newer ones say nothing, and the environment last', () => {
  const text = { settings: ['rate=2'], deprecated: ['rate=9', 'count=4'], env: { OTEL_BSP_SCHEDULE_DELAY: '70' } };
  expect(parseTraceConfig(text)).toMatchObject({
    values: { rate: 2, count: 4 },
    openTelemetry: { scheduleDelayMs: 70 },
  });
});

describe('refuses', () => {
  it.each([
    ['level'],
    ['rate='],
    ['=1'],
    ['speed=1'],
    ['file=x'],
    ['rate=x'],
    ['rate=-1'],
    ['count=-2'],
    ['mode=zipkin'],
    ['level=ALL'],
    ['opentelemetry,url=nowhere'],
    ['opentelemetry,resource=a'],
  ])('%s', (setting) => {
    expect(() => parseTraceConfig({ settings: [setting] })).toThrow(expect.objectContaining({ reason: 'bad-config' }));
  });
});

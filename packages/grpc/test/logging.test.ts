import type { LogChanges, LogControl, LogSettings } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { serve } from './fixture.ts';

class Settings implements LogControl {
  settings: LogSettings = { file: '', info: true, warning: true, error: true, verboseLevel: 0, format: 'default' };
  update(changes: LogChanges): void {
    this.settings = { ...this.settings, ...changes };
  }
}

describe('LogSettings', () => {
  it('tells the settings after it changed those that are named', async () => {
    const log = new Settings();
    await using served = await serve({ log });
    const changes = { log_info: { bool_param: false }, log_verbose_level: { uint32_param: 2 }, nosuch: {} };
    const { code, messages } = await served.unary('LogSettings', { settings: changes });
    expect([code, messages[0].settings]).toEqual([
      'OK',
      {
        log_file: expect.objectContaining({ string_param: '' }),
        log_info: expect.objectContaining({ bool_param: false }),
        log_warning: expect.objectContaining({ bool_param: true }),
        log_error: expect.objectContaining({ bool_param: true }),
        log_verbose_level: expect.objectContaining({ uint32_param: 2 }),
        log_format: expect.objectContaining({ string_param: 'default' }),
      },
    ]);
    expect(log.settings).toMatchObject({ info: false, verboseLevel: 2 });
  });

  it.each([
    [{ log_file: { string_param: '/etc/passwd' } }, 'UNIMPLEMENTED'],
    [{ log_info: { bool_param: false }, log_warning: { string_param: 'no' } }, 'INVALID_ARGUMENT'],
    [{ log_verbose_level: { bool_param: true } }, 'INVALID_ARGUMENT'],
    [{ log_format: { string_param: 'xml' } }, 'INVALID_ARGUMENT'],
  ])('%j is refused, and changes nothing', async (settings, expected) => {
    const log = new Settings();
    await using served = await serve({ log });
    const { code } = await served.unary('LogSettings', { settings });
    expect(code).toBe(expected);
    expect(log.settings).toEqual(new Settings().settings);
  });

  it('is not served where there is no log to tell of', async () => {
    await using served = await serve();
    expect((await served.unary('LogSettings', {})).code).toBe('UNIMPLEMENTED');
  });
});

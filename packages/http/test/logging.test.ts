import type { LogChanges, LogControl, LogSettings } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { serve } from './fixture.ts';

class Settings implements LogControl {
  settings: LogSettings = {
    file: '/var/log/nereid.log',
    info: true,
    warning: true,
    error: true,
    verboseLevel: 0,
    format: 'default',
  };
  update(changes: LogChanges): void {
    this.settings = { ...this.settings, ...changes };
  }
}

const FULL = {
  log_file: '/var/log/nereid.log',
  log_info: true,
  log_warning: true,
  log_error: true,
  log_verbose_level: 0,
  log_format: 'default',
};

describe('log settings', () => {
  it('are told, and changed where the body names them', async () => {
    await using served = await serve({ log: new Settings() });
    const url = `${served.url}/v2/logging`;
    const post = async (body: unknown) => {
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      return [answer.status, await answer.json()];
    };
    expect(await (await fetch(url)).json()).toEqual(FULL);
    const changed = { ...FULL, log_info: false, log_verbose_level: 2, log_format: 'ISO8601' };
    expect(await post({ log_info: false, log_verbose_level: 2, log_format: 'ISO8601' })).toEqual([200, changed]);
    expect(await post({ log_info: null, log_file: null, nosuch: 1 })).toEqual([200, changed]);
    expect(await (await fetch(url, { method: 'POST' })).json()).toEqual(changed);
    expect(await (await fetch(url)).json()).toEqual(changed);
  });

  it.each([
    [{ log_file: '/etc/passwd', log_info: false }, 501, "leave 'log_file' out"],
    [{ log_info: 'no' }, 400, `Unable to parse 'log_info': expected true or false, found "no"`],
    [{ log_warning: false, log_verbose_level: -1 }, 400, 'expected a whole number from 0 on, found -1'],
    [{ log_verbose_level: 1.5 }, 400, 'found 1.5'],
    [{ log_format: 'xml' }, 400, `expected 'default', 'ISO8601', 'json', found "xml"`],
    [[], 400, 'the body must be an object of log settings'],
  ])('%j is refused, and changes nothing', async (body, status, message) => {
    const log = new Settings();
    await using served = await serve({ log });
    const answer = await fetch(`${served.url}/v2/logging`, { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).toBe(status);
    expect(((await answer.json()) as { error: string }).error).toContain(message);
    expect(log.settings).toEqual(new Settings().settings);
  });

  it('are not told by a server that has none, nor by another method', async () => {
    await using served = await serve({});
    expect((await fetch(`${served.url}/v2/logging`)).status).toBe(501);
    const wrong = await fetch(`${served.url}/v2/logging`, { method: 'PUT' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect((await fetch(`${served.url}/v2/logging/more`)).status).toBe(404);
  });

  it('make an extension', async () => {
    const extensions = async (options: Parameters<typeof serve>[0]) => {
      await using served = await serve(options);
      return ((await (await fetch(`${served.url}/v2`)).json()) as { extensions: string[] }).extensions;
    };
    expect(await extensions({ log: new Settings() })).toContain('logging');
    expect(await extensions({})).not.toContain('logging');
  });
});

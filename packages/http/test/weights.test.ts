import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serve } from './fixture.ts';

let open: Served;
let closed: Served;

beforeAll(async () => {
  [open, closed] = await Promise.all([serve({ allowWeightUpdates: true }), serve()]);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
});

async function post({ url }: Served, path: string, body: string) {
  const response = await fetch(`${url}/v2/models/${path}/weights`, { method: 'POST', body });
  return [response.status, (await response.json()) as { readonly error?: string }] as const;
}

describe('POST weights', () => {
  it('is refused unless the server allows it, and says how to', async () => {
    expect(await post(closed, 'addsub', '{"file":"new.pt"}')).toEqual([
      503,
      {
        error:
          "the weights of 'addsub' are not exchanged: clients may not do that; the server allows it with --allow-weight-updates",
      },
    ]);
  });

  it.each(['addsub', 'addsub/versions/3'])('of %s names a file of the model directory', async (path) => {
    const [status, report] = await post(open, path, '{"file":"weights/new.pt"}');
    expect(status).toBe(200);
    expect(report).toEqual({ updated: [expect.stringMatching(/addsub\/weights\/new\.pt/)], kept: [], ignored: [] });
  });

  it.each(['', '[]', '{}', '{"file":1}', '"new.pt"'])('with the body %j is a bad request', async (body) => {
    const [status, { error }] = await post(open, 'addsub', body);
    expect(status).toBe(400);
    expect(error).toMatch(/the body must be \{"file"|failed to parse/);
  });

  it('does not leave the model directory', async () => {
    const [, { error }] = await post(open, 'addsub', '{"file":"../picky/1/model.fake"}');
    expect(error).toContain('escapes the directory');
  });

  it('of an unknown model is not found', async () => {
    expect((await post(open, 'none', '{"file":"new.pt"}'))[0]).toBe(404);
  });

  it('is a method of its own', async () => {
    const response = await fetch(`${open.url}/v2/models/addsub/weights`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

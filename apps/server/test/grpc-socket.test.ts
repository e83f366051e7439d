/** gRPC on a socket in the file system. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testModel, usePython } from '@nereid/testing';
import { afterAll, expect, test } from 'vitest';
import { openLog, optionsFromFlags, parseFlags, startServer } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'nereid-grpc-socket-'));
cpSync(join(testModel('golden_repository'), 'id_fp32'), join(folder, 'models', 'id_fp32'), { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

/** What tritonclient says of the server at a target. */
async function isLive(target: string): Promise<boolean> {
  const code = 'import sys, tritonclient.grpc as g; print(g.InferenceServerClient(sys.argv[1]).is_server_live())';
  const { stdout } = await promisify(execFile)(usePython(), ['-c', code, target]);
  return stdout.trim() === 'True';
}

test.each(['unix:', 'unix://'])(
  'a client that names it with %s reaches the server; it is gone with the server',
  async (prefix) => {
    const path = join(folder, 'grpc.sock');
    const argv = [
      `--model-repository=${join(folder, 'models')}`,
      '--allow-http=false',
      '--allow-metrics=false',
      `--grpc-address=${prefix}${path}`,
    ];
    const { options } = optionsFromFlags(parseFlags(argv));
    await using server = await startServer(
      options,
      openLog({ ...options.log, info: false, warning: false, error: false }),
    );
    expect(await isLive(`${prefix}${path}`)).toBe(true);
    await server.stop();
    expect(existsSync(path)).toBe(false);
  },
);

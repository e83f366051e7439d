// One HTTP server in a process of its own. argv: bare | factory | router. Prints its port; answers every message with its CPU time in microseconds.
import { createServer } from 'node:http';
import fastify from 'fastify';
import { createServerFactory, nereidHttp } from '../dist/index.js';
import { ANSWER } from './payload.mjs';

const output = Buffer.alloc(40);

/** Answers at once, and does nothing else: what is measured is the front end. */
const engine = {
  infer(request) {
    request.respond({
      modelName: 'mlp',
      modelVersion: '1',
      outputs: [{ name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 10], data: output }],
    });
  },
  isDecoupled: () => false,
  modelMetadata: () => ({ name: 'mlp', versions: ['1'], platform: '', inputs: [], outputs: [] }),
};

/** The least a handler can do: read the body, answer the same bytes. */
function bare() {
  return createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
      const length = Number(request.headers['inference-header-content-length']);
      if (body.length < length) throw new Error('short body');
      response.writeHead(200, {
        'Content-Type': 'application/octet-stream',
        'Inference-Header-Content-Length': ANSWER.headerLength,
        'Content-Length': ANSWER.body.length,
      });
      response.end(ANSWER.body);
    });
  });
}

async function start(kind) {
  if (kind === 'bare') {
    const server = bare();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server.address().port;
  }
  const app = kind === 'factory' ? fastify({ serverFactory: createServerFactory({ engine }) }) : fastify();
  await app.register(nereidHttp, { engine });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app.server.address().port;
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMicros: user + system });
});
process.on('disconnect', () => process.exit());
process.send({ port: await start(process.argv[2]) });

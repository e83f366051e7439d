/** Runs waves of an attack on a server, in a process of its own. usage: attacker.mjs HTTP_PORT GRPC_PORT NAME MILLISECONDS WAVES */
import { ATTACKS } from './attacks.mjs';

const [httpPort, grpcPort, name, milliseconds, mostWaves] = process.argv.slice(2);
const host = '127.0.0.1';
const context = { http: { host, port: Number(httpPort) }, grpc: { host, port: Number(grpcPort) } };
const end = performance.now() + Number(milliseconds);
let waves = 0;
do {
  await ATTACKS[name](context);
  waves++;
} while (performance.now() < end && waves < Number(mostWaves));
console.log(waves);
process.exit(0);

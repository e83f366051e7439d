/** A child that speaks frames on descriptor 3 and behaves as its arguments say. */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

const [behaviour] = process.argv.slice(2);
const pipe = new Socket({ fd: 3 });
let rest = Buffer.alloc(0);

const send = (type, payload = '') => {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(8);
  header.writeUInt32LE(bytes.length, 0);
  header.writeUInt32LE(type, 4);
  pipe.write(Buffer.concat([header, bytes]));
};

const log = (level, text) => send(5, Buffer.concat([Buffer.from([level]), Buffer.from(text)]));

const START = {
  echo: (payload) => send(3, payload),
  silent: () => {},
  refuse: () => {
    send(4, 'no model');
    pipe.end(() => process.exit(1));
  },
  exit: () => {
    console.error('first line\nlast line');
    process.exitCode = 3;
    pipe.destroy();
  },
  logs: (payload) => {
    log(0, 'debug sentence');
    log(3, 'error sentence');
    process.stdout.write('out line\nno end');
    process.stderr.write('err ü line\r\n');
    send(3, payload);
  },
  stubborn: (payload) => send(3, payload),
  family: (payload) => {
    const child = spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit', 3] });
    send(3, payload);
    send(16, String(child.pid));
  },
};

const USER = {
  16: (payload) => send(17, payload),
  18: () => process.kill(process.pid, 'SIGKILL'),
  19: () => send(9),
  20: () => {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(2 ** 31, 0);
    pipe.write(header);
  },
};

const take = (type, payload) => {
  if (type === 1) START[behaviour](payload);
  else if (type === 2) behaviour === 'stubborn' || process.exit(0);
  else USER[type](payload);
};

pipe.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  while (rest.length >= 8 && rest.length >= 8 + rest.readUInt32LE(0)) {
    const end = 8 + rest.readUInt32LE(0);
    const frame = [rest.readUInt32LE(4), rest.subarray(8, end)];
    rest = rest.subarray(end);
    take(...frame);
  }
});
pipe.on('end', () => process.exit(0));

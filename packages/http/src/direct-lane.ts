/**
 * The short way of most requests: those of a connection look alike, come in one piece, and each is answered before the next one comes. An inference among them is read and answered without
 * Node's parser and its message objects; a GET gets message objects made for it. At the first request that is anything else (another method, a large or chunked body,
 * one that is pipelined or slow, a head with anything to interpret) the connection becomes Node's, for good, and nobody notices.
 */
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BoundedCache } from '@nereid/protocol';
import { DirectHeads, DirectReply } from './direct-reply.ts';
import type { InferEndpoint, ServerState } from './infer-endpoint.ts';
import { type RequestHead, readHead, WholeRequest } from './request-head.ts';

export interface DirectLaneOptions {
  readonly endpoint: InferEndpoint;
  readonly state: ServerState;
  /** Time between two requests, in milliseconds; 0 for any. */
  readonly keepAliveTimeoutMs: number;
  /** Bytes of a request's head. */
  readonly maxHeadBytes: number;
}

/** Bytes of a whole request. */
const MAX_REQUEST_BYTES = 65_536;
/** Pieces of one request, and the time for all of them. Node's own limits hold for those that need more, from then on. */
const MAX_PIECES = 16;
const PATIENCE_MS = 1000;
/** Heads that are remembered, and how long they may be. */
const CACHED_HEADS = 256;
const MAX_CACHED_HEAD_BYTES = 4096;

/**
 * Stands before Node's reading of every connection of a server, of HTTP or HTTPS, which must have no other listeners for connections yet. What is closed with the server's
 * idle or all connections is closed here too.
 */
export function openDirectLane(server: Server, options: DirectLaneOptions): void {
  const lane = new DirectLane(server, options);
  const [closeIdle, closeAll] = [server.closeIdleConnections, server.closeAllConnections];
  server.closeIdleConnections = () => {
    closeIdle.call(server);
    lane.closeIdle();
  };
  server.closeAllConnections = () => {
    closeAll.call(server);
    lane.closeAll();
  };
}

/** What the connections of one server share. */
class DirectLane {
  readonly server: Server;
  readonly endpoint: InferEndpoint;
  readonly state: ServerState;
  readonly keepAliveTimeoutMs: number;
  readonly heads: DirectHeads;
  readonly #maxHeadBytes: number;
  readonly #ofNode: (socket: Socket) => void;
  readonly #connections = new Set<DirectConnection>();
  /** By their text, without the empty line. */
  readonly #known = new BoundedCache<string, RequestHead>(CACHED_HEADS);
  #lastText: string | undefined;
  #lastHead: RequestHead | undefined;

  constructor(server: Server, options: DirectLaneOptions) {
    this.server = server;
    this.endpoint = options.endpoint;
    this.state = options.state;
    this.keepAliveTimeoutMs = options.keepAliveTimeoutMs;
    this.heads = new DirectHeads(options.keepAliveTimeoutMs);
    this.#maxHeadBytes = options.maxHeadBytes;
    const event = server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
    const [listener, ...others] = server.listeners(event);
    if (listener === undefined || others.length > 0)
      throw new TypeError(`somebody else takes the ${event}s of the server`);
    this.#ofNode = (socket) => listener.call(server, socket);
    server.removeAllListeners(event);
    server.on(event, (socket: Socket) => this.#connections.add(new DirectConnection(socket, this)));
  }

  closeIdle(): void {
    for (const connection of this.#connections) if (connection.isIdle) connection.socket.destroy();
  }

  closeAll(): void {
    for (const { socket } of this.#connections) socket.destroy();
  }

  forget(connection: DirectConnection): void {
    this.#connections.delete(connection);
  }

  /** Gives a connection to Node, with what was read of it. */
  handOver(socket: Socket, bytes: Buffer | undefined): void {
    this.#ofNode(socket);
    if (bytes !== undefined) socket.unshift(bytes);
    socket.resume();
  }

  /** @returns undefined for a head that is not for this lane */
  head(text: string): RequestHead | undefined {
    if (text === this.#lastText) return this.#lastHead;
    const head = this.#known.get(text) ?? this.#read(text);
    if (head === undefined) return undefined;
    this.#lastText = text;
    this.#lastHead = head;
    return head;
  }

  #read(text: string): RequestHead | undefined {
    const head = readHead(text);
    if (head === undefined || (head.method === 'POST' && !this.endpoint.isInference(head.url))) return undefined;
    const { byteLength, contentLength } = head;
    if (byteLength > this.#maxHeadBytes || byteLength + contentLength > MAX_REQUEST_BYTES) return undefined;
    if (byteLength <= MAX_CACHED_HEAD_BYTES) this.#known.set(text, head);
    return head;
  }
}

/** One connection, for as long as it keeps to the lane. */
class DirectConnection {
  readonly socket: Socket;
  readonly #lane: DirectLane;
  /** What came and is no whole request yet, or came before the answer. */
  #waiting: Buffer | undefined;
  #pieces = 0;
  /** When the first of them came, in milliseconds. */
  #begunMs = 0;
  #isRunning = false;
  /** Whether an answer is on its way for which the client has a limited time. */
  #isLimited = false;
  /** Whether the client may be silent for long, as it is between two requests. */
  #mayRest = false;

  constructor(socket: Socket, lane: DirectLane) {
    this.socket = socket;
    this.#lane = lane;
    socket.setTimeout(PATIENCE_MS);
    socket.on('data', this.#onData);
    socket.on('timeout', this.#onTimeout);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  get heads(): DirectHeads {
    return this.#lane.heads;
  }

  /** Whether no request runs, and none has begun to come. */
  get isIdle(): boolean {
    return !this.#isRunning && this.#waiting === undefined;
  }

  limited(): void {
    this.#isLimited = true;
  }

  answered(isLast: boolean): void {
    this.#isRunning = false;
    if (this.#isLimited) {
      this.#isLimited = false;
      this.socket.setTimeout(this.#lane.keepAliveTimeoutMs);
    }
    if (this.socket.destroyed) return;
    if (isLast) this.socket.destroySoon();
    else if (this.#waiting !== undefined) this.#take(this.#waiting);
  }

  readonly #onData = (piece: Buffer) => {
    const bytes = this.#waiting === undefined ? piece : Buffer.concat([this.#waiting, piece]);
    if (!this.#isRunning) {
      this.#take(bytes);
      return;
    }
    // Read on nevertheless, to hear of the end of the connection.
    this.#waiting = bytes;
    if (bytes.length > MAX_REQUEST_BYTES) this.socket.pause();
  };

  /** Requests of a client that does not wait for answers come here joined, and Node puts their answers in order. */
  #take(bytes: Buffer): void {
    this.#waiting = bytes;
    const end = bytes.indexOf('\r\n\r\n', 0, 'latin1');
    if (end === -1) {
      this.#await(MAX_REQUEST_BYTES);
      return;
    }
    const head = this.#lane.head(bytes.toString('latin1', 0, end));
    // Where an answer still leaves the process, the client sends without reading.
    if (head === undefined || this.socket.writableLength > 0) {
      this.#handOver();
      return;
    }
    const length = head.byteLength + head.contentLength;
    if (bytes.length === length) this.#run(head, bytes);
    else this.#await(length);
  }

  /** Waits for the rest of a request of at most so many bytes. */
  #await(length: number): void {
    const received = this.#waiting?.length ?? 0;
    const nowMs = performance.now();
    if (this.#pieces++ === 0) this.#begunMs = nowMs;
    const isLate = this.#pieces === MAX_PIECES || nowMs - this.#begunMs > PATIENCE_MS;
    if (received >= length || isLate) this.#handOver();
    else if (this.#mayRest) {
      this.#mayRest = false;
      this.socket.setTimeout(PATIENCE_MS);
    }
  }

  #run(head: RequestHead, bytes: Buffer): void {
    this.#waiting = undefined;
    this.#pieces = 0;
    this.#isRunning = true;
    if (!this.#mayRest) {
      this.#mayRest = true;
      this.socket.setTimeout(this.#lane.keepAliveTimeoutMs);
    }
    if (head.method === 'GET') {
      this.#call(head);
      return;
    }
    const { endpoint, state } = this.#lane;
    const request = new WholeRequest(this.socket, head, bytes.subarray(head.byteLength));
    endpoint.tryStart(head.url, { request, response: new DirectReply(this), state });
  }

  /** What runs no model is answered through Node's message objects. */
  #call({ method, url, headers, rawHeaders }: RequestHead): void {
    const { socket } = this;
    const request = Object.assign(new IncomingMessage(socket), {
      ...{ method, url, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true },
      ...{ headers: { ...headers }, rawHeaders: [...rawHeaders] },
    });
    request.push(null);
    const response = new ServerResponse(request);
    if (this.#lane.state.isClosing) response.setHeader('Connection', 'close');
    else for (const [name, value] of this.heads.connectionHeaders) response.setHeader(name, value);
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      process.nextTick(() => response.emit('close'));
      this.answered(this.#lane.state.isClosing || response.getHeader('connection') === 'close');
    });
    this.#lane.server.emit('request', request, response);
  }

  readonly #onTimeout = () => {
    // While a model runs nothing need come or go.
    if (this.#isRunning && !this.#isLimited) return;
    if (this.#isRunning || this.#mayRest) this.socket.destroy();
    else this.#handOver();
  };

  /** As Node does: who sends no more wants no answer. */
  readonly #onEnd = () => {
    this.socket.end();
  };

  /** The end of the connection follows. */
  readonly #onError = () => {};

  readonly #onClose = () => {
    this.#lane.forget(this);
  };

  #handOver(): void {
    const { socket } = this;
    socket.setTimeout(0);
    socket.off('data', this.#onData);
    socket.off('timeout', this.#onTimeout);
    socket.off('end', this.#onEnd);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    this.#lane.forget(this);
    if (!socket.destroyed) this.#lane.handOver(socket, this.#waiting);
  }
}

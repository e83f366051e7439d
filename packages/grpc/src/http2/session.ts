/**
 * One connection of a client: HTTP/2 as RFC 9113 has it for a server, without push and priorities. What the client may cost is bounded (`Http2Limits`); a
 * client that breaks a rule ends its call or its connection, never another's.
 */
import type { Socket } from 'node:net';
import { Allowance } from './allowance.ts';
import { ConnectionFault, H2, StreamFault, tooMuch } from './faults.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';
import { assertSize, assertStreamOf, PING_BYTES } from './frame-rules.ts';
import { DEFAULT_WINDOW, FLAG, FRAME, type FrameHead, HEAD_BYTES, LARGEST_WINDOW } from './frames.ts';
import { HeaderBlock } from './header-block.ts';
import { assertRequest, assertTrailers, contentLength, type HeaderList, HeaderReader } from './headers.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import { type FieldList, HpackEncoder } from './hpack/encoder.ts';
import type { Http2Limits } from './limits.ts';
import { Output } from './output.ts';
import { INITIAL_PEER_SETTINGS, type PeerSettings, serverSettings, withSettings } from './settings.ts';
import { Stream, type StreamOwner } from './stream.ts';

/** Longest frame that is sent, whatever the client takes: others of the connection get their turn behind it. */
const MAX_SENT_FRAME_BYTES = 256 * 1024;
/** Resets of ours whose streams are remembered: the client may not have known. */
const REMEMBERED_RESETS = 1024;
/** How long a client may take to read why it is sent away. */
const LAST_WORDS_MS = 1000;
const PING = Buffer.from('are you?');
/** Stands for the time it takes until the client knows that no call is taken any more. */
const CLOSING_PING = Buffer.from('closing!');

/** Told of what is none of a call. */
export interface SessionObserver {
  /** The client asks whether the server is there; it is answered afterwards. */
  pinged(): void;
  /** The connection is gone. */
  closed(): void;
}

export interface SessionInit {
  readonly socket: Socket;
  readonly limits: Http2Limits;
  /** A call begins. It is answered through the stream. */
  readonly accept: (stream: Stream, isTooLarge: boolean) => void;
  readonly closed: (session: Session) => void;
  /** Something went wrong on this side, which costs the connection alone. */
  readonly failed: (thrown: unknown) => void;
}

export class Session implements FrameHandler, StreamOwner {
  readonly output: Output;
  sendWindow = DEFAULT_WINDOW;
  sentCount = 0;
  readonly #socket: Socket;
  readonly #limits: Http2Limits;
  readonly #init: SessionInit;
  readonly #reader: FrameReader;
  readonly #headers: HeaderReader;
  readonly #encoder = new HpackEncoder();
  readonly #streams = new Map<number, Stream>();
  readonly #resets: Allowance;
  readonly #idleFrames: Allowance;
  #beginTimer: NodeJS.Timeout | undefined;
  #peer: PeerSettings = INITIAL_PEER_SETTINGS;
  #hasSettings = false;
  #receiveWindow: number;
  /** What a client may send on a new stream: no less than is usual until it knows better. */
  #callWindow: number;
  #isAcknowledged = false;
  #uncredited = 0;
  /** Highest stream that the client opened, and how many it did. */
  #lastStreamId = 0;
  #openedCount = 0;
  /** Streams above it are not answered: the client was told so. */
  #takenUpTo = LARGEST_WINDOW;
  readonly #remembered = new Set<number>();
  /** The block of headers under way; no other frame may come before its end. */
  #block: HeaderBlock | undefined;
  /** The stream of the DATA frame under way; undefined when its bytes are not wanted. */
  #dataStream: Stream | undefined;
  #dataHead: FrameHead | undefined;
  #dataBytes = 0;
  /** Streams that could not send for want of the connection's window or of room in the socket, oldest first. */
  #waiting: Stream[] = [];
  /** Streams that were answered before their requests ended. */
  #finished: Stream[] = [];
  #sentAtPing = 0;
  #observer: SessionObserver | undefined;
  /** Calls back when the client answers a ping of ours. */
  #ponged: (() => void) | undefined;
  #isReading = false;
  /** Bytes of answers to frames that ask for nothing, since the socket last had room. */
  #controlBytes = 0;
  #isClosing = false;
  #isOver = false;

  constructor(init: SessionInit) {
    this.#init = init;
    const { socket, limits } = init;
    this.#socket = socket;
    this.#limits = limits;
    this.output = new Output(socket);
    this.#reader = new FrameReader(this);
    this.#headers = new HeaderReader(new HpackDecoder(), limits.maxMetadataBytes);
    this.#receiveWindow = Math.max(limits.connectionWindowBytes, DEFAULT_WINDOW);
    this.#callWindow = Math.max(limits.callWindowBytes, DEFAULT_WINDOW);
    const now = () => performance.now();
    this.#resets = new Allowance(limits.resets, now);
    this.#idleFrames = new Allowance(limits.idleFrames, now);
    this.#beginTimer = setTimeout(() => this.#begunTooLate(), limits.beginTimeoutMs).unref();
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('drain', () => this.#drained());
    socket.on('error', ignore);
    socket.on('close', () => this.#gone());
    this.#greet();
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get frameBytes(): number {
    return Math.min(this.#peer.frameBytes, MAX_SENT_FRAME_BYTES);
  }

  /** Whether it has ended, or is about to. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls under way. */
  get callCount(): number {
    return this.#streams.size;
  }

  /** Bytes that came from the client. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  observe(observer: SessionObserver): void {
    this.#observer = observer;
  }

  /** Asks the client whether it is there. `answered` is called when it says so, unless it was asked again before. */
  ping(answered: () => void): void {
    this.#ponged = answered;
    this.output.head(PING_BYTES, FRAME.ping, 0, 0);
    this.output.bytes(PING);
    this.output.schedule();
  }

  /**
   * Takes no more calls, and ends with the last of those under way.
   * @param why  the client is told
   */
  close(why = ''): void {
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    if (!this.#hasSettings) {
      this.#end();
      return;
    }
    // The client is warned first, and what it sent before it knew is answered. When it echoes the ping, it knows.
    this.#goAway(LARGEST_WINDOW, H2.NO_ERROR, why);
    this.output.head(PING_BYTES, FRAME.ping, 0, 0);
    this.output.bytes(CLOSING_PING);
    this.output.flush();
    setTimeout(() => this.#stopTaking(), LAST_WORDS_MS).unref();
  }

  /** Ends every call and the connection, after a word why. */
  end(code: number, why: string): void {
    if (this.#isOver) return;
    this.#goAway(this.#lastStreamId, code, why);
    this.#end();
  }

  /** Ends every call and the connection at once. The client is told which calls had begun: the others it may make again. */
  destroy(): void {
    if (!this.#isOver && this.#hasSettings) this.#goAway(this.#lastStreamId, H2.NO_ERROR);
    this.output.flush();
    this.#socket.destroy();
    this.#gone();
  }

  sendHeaders(streamId: number, list: FieldList, endStream: boolean): void {
    this.sentCount++;
    const block = this.#encoder.encode(list);
    const end = endStream ? FLAG.endStream : 0;
    for (let at = 0; at === 0 || at < block.length; at += this.frameBytes) {
      const piece = block.length <= this.frameBytes ? block : block.subarray(at, at + this.frameBytes);
      const isLast = at + piece.length >= block.length;
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      this.output.head(piece.length, type, (at === 0 ? end : 0) | (isLast ? FLAG.endHeaders : 0), streamId);
      this.output.bytes(piece);
    }
  }

  sendReset(streamId: number, code: number): void {
    this.#remember(streamId);
    this.#controlled(FRAME.rstStream, 4, streamId);
    this.output.uint32(code);
    this.output.schedule();
  }

  sendWindowUpdate(streamId: number, bytes: number): void {
    this.#controlled(FRAME.windowUpdate, 4, streamId);
    this.output.uint32(bytes);
    this.output.schedule();
  }

  credit(bytes: number): void {
    this.#uncredited += bytes;
    if (this.#uncredited * 2 < this.#limits.connectionWindowBytes) return;
    this.#receiveWindow += this.#uncredited;
    this.sendWindowUpdate(0, this.#uncredited);
    this.#uncredited = 0;
  }

  waits(stream: Stream): void {
    if (stream.isWaiting) return;
    stream.isWaiting = true;
    this.#waiting.push(stream);
  }

  finished(stream: Stream): void {
    if (this.#isReading) this.#finished.push(stream);
    else stream.stopRequest();
  }

  remove(stream: Stream): void {
    this.#streams.delete(stream.id);
    if (this.#isClosing) this.#endIfIdle();
  }

  begin(head: FrameHead): boolean {
    const { type, streamId } = head;
    assertSize(head, this.#limits.maxFrameBytes);
    if (!this.#hasSettings && type !== FRAME.settings)
      throw new ConnectionFault(H2.PROTOCOL_ERROR, 'the first frame is none of SETTINGS');
    const block = this.#block;
    if (block !== undefined && (type !== FRAME.continuation || streamId !== block.head.streamId))
      throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a block of headers is not followed by its continuation');
    if (block === undefined && type === FRAME.continuation)
      throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a continuation continues nothing');
    assertStreamOf(head, this.#lastStreamId);
    return this.#beginType(head);
  }

  #beginType(head: FrameHead): boolean {
    switch (head.type) {
      case FRAME.data:
        this.#beginData(head);
        return true;
      case FRAME.headers:
      case FRAME.continuation:
        HeaderBlock.assertRoom(this.#block, head.length, this.#limits.maxMetadataBytes);
        return true;
      case FRAME.settings:
      case FRAME.rstStream:
      case FRAME.ping:
      case FRAME.windowUpdate:
      case FRAME.priority:
        return true;
      case FRAME.goAway:
        return false;
      default:
        // Frames of extensions that were not agreed on are passed over.
        this.#countIdle('frames of unknown types');
        return false;
    }
  }

  frame(head: FrameHead, payload: Buffer): void {
    switch (head.type) {
      case FRAME.headers:
        this.#block = new HeaderBlock(head, payload);
        if (this.#block.isWhole) this.#readBlock(this.#block);
        break;
      case FRAME.continuation:
        this.#block?.continue(head, payload);
        if (this.#block?.isWhole) this.#readBlock(this.#block);
        break;
      case FRAME.settings:
        this.#settings(head, payload);
        break;
      case FRAME.ping:
        this.#ping(head, payload);
        break;
      case FRAME.rstStream:
        this.#reset(head.streamId);
        break;
      case FRAME.windowUpdate:
        this.#windowUpdate(head.streamId, payload.readUInt32BE(0) & LARGEST_WINDOW);
        break;
      case FRAME.priority:
        this.#countIdle('priorities');
        if ((payload.readUInt32BE(0) & LARGEST_WINDOW) === head.streamId)
          this.#fail(new StreamFault(head.streamId, H2.PROTOCOL_ERROR, 'a stream depends on itself'));
        break;
    }
  }

  data(piece: Buffer): void {
    this.#dataBytes += piece.length;
    const stream = this.#dataStream;
    if (stream === undefined || stream.isClosed) this.credit(piece.length);
    else if (!stream.take(piece)) {
      this.credit(piece.length);
      this.#fail(new StreamFault(stream.id, H2.PROTOCOL_ERROR, 'the body is longer than its content-length'));
    }
  }

  dataEnded(): void {
    const head = this.#dataHead;
    if (head === undefined) return;
    const padding = head.length - this.#dataBytes;
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream === undefined || stream.isClosed) {
      this.credit(padding);
      return;
    }
    if (padding > 0) stream.creditPadding(padding);
    const isLast = (head.flags & FLAG.endStream) !== 0;
    if (isLast) this.#remoteEnd(stream);
    else if (this.#dataBytes === 0) this.#countIdle('frames of DATA without data');
  }

  #remoteEnd(stream: Stream): void {
    if (!stream.remoteEnd())
      this.#fail(new StreamFault(stream.id, H2.PROTOCOL_ERROR, 'the body is shorter than its content-length'));
  }

  #beginData(head: FrameHead): void {
    this.#dataHead = head;
    this.#dataBytes = 0;
    this.#dataStream = undefined;
    this.#receiveWindow -= head.length;
    if (this.#receiveWindow < 0)
      throw new ConnectionFault(H2.FLOW_CONTROL_ERROR, 'the connection was sent more than its window allows');
    const stream = this.#streams.get(head.streamId);
    if (stream === undefined) {
      if (!this.#remembered.has(head.streamId) && head.streamId <= this.#takenUpTo)
        this.#fail(new StreamFault(head.streamId, H2.STREAM_CLOSED, 'the stream is over'));
    } else if (stream.isRemoteClosed) {
      this.#fail(new StreamFault(head.streamId, H2.STREAM_CLOSED, 'the request has ended'));
    } else if (!stream.receive(head.length)) {
      this.#fail(
        new StreamFault(head.streamId, H2.FLOW_CONTROL_ERROR, 'the stream was sent more than its window allows'),
      );
    } else {
      this.#dataStream = stream;
    }
  }

  #readBlock(block: HeaderBlock): void {
    this.#block = undefined;
    const list = this.#headers.read(block.bytes);
    try {
      this.#headersRead(block.head, list);
    } catch (thrown) {
      if (!(thrown instanceof StreamFault)) throw thrown;
      this.#fail(thrown);
    }
  }

  #headersRead({ streamId, flags }: FrameHead, list: HeaderList): void {
    const endStream = (flags & FLAG.endStream) !== 0;
    const stream = this.#streams.get(streamId);
    if (stream !== undefined) this.#trailers(stream, list, endStream);
    else if (streamId <= this.#lastStreamId) this.#headersOfOver(streamId);
    else this.#open(streamId, list, endStream);
  }

  #trailers(stream: Stream, list: HeaderList, endStream: boolean): void {
    if (stream.isRemoteClosed) throw new StreamFault(stream.id, H2.STREAM_CLOSED, 'the request has ended');
    if (!endStream) throw new StreamFault(stream.id, H2.PROTOCOL_ERROR, 'the headers in a request do not end it');
    assertTrailers(stream.id, list);
    this.#remoteEnd(stream);
  }

  #headersOfOver(streamId: number): void {
    if (this.#remembered.has(streamId) || streamId > this.#takenUpTo) return;
    const skippedSome = this.#openedCount * 2 - 1 < this.#lastStreamId;
    if (skippedSome || streamId % 2 === 0)
      throw new ConnectionFault(H2.PROTOCOL_ERROR, `stream ${streamId} begins after stream ${this.#lastStreamId}`);
    throw new ConnectionFault(H2.STREAM_CLOSED, `stream ${streamId} is over`);
  }

  #open(streamId: number, list: HeaderList, endStream: boolean): void {
    if (streamId % 2 === 0)
      throw new ConnectionFault(H2.PROTOCOL_ERROR, `stream ${streamId} cannot be one of a client`);
    this.#lastStreamId = streamId;
    this.#openedCount++;
    // The client was told, and makes these calls elsewhere.
    if (streamId > this.#takenUpTo) return;
    if (this.#streams.size >= this.#limits.maxConcurrentCalls) {
      this.#countReset();
      this.sendReset(streamId, H2.REFUSED_STREAM);
      return;
    }
    if (!list.isTooLarge) assertRequest(streamId, list);
    const stream = new Stream({
      id: streamId,
      headers: list.headers,
      owner: this,
      sendWindow: this.#peer.initialWindow,
      receiveWindow: this.#callWindow,
      windowBytes: this.#limits.callWindowBytes,
      expectedBytes: contentLength(streamId, list.headers),
    });
    this.#streams.set(streamId, stream);
    this.#init.accept(stream, list.isTooLarge);
    if (endStream && !stream.isClosed) this.#remoteEnd(stream);
  }

  #settings({ flags }: FrameHead, payload: Buffer): void {
    if ((flags & FLAG.ack) !== 0) {
      this.#acknowledged();
      return;
    }
    if (this.#hasSettings) this.#countIdle('settings');
    this.#hasSettings = true;
    clearTimeout(this.#beginTimer);
    const before = this.#peer;
    this.#peer = withSettings(before, payload);
    if (this.#peer.tableBytes !== undefined) this.#encoder.setTableLimit(this.#peer.tableBytes);
    const change = this.#peer.initialWindow - before.initialWindow;
    if (change !== 0) {
      for (const stream of this.#streams.values()) {
        if (!stream.addSendWindow(change))
          throw new ConnectionFault(H2.FLOW_CONTROL_ERROR, 'a window becomes larger than any may be');
      }
    }
    this.#controlled(FRAME.settings, 0, 0, FLAG.ack);
  }

  /** The client has changed its windows to what it was told. */
  #acknowledged(): void {
    if (this.#isAcknowledged) return;
    this.#isAcknowledged = true;
    const change = this.#limits.callWindowBytes - this.#callWindow;
    this.#callWindow += change;
    if (change !== 0) for (const stream of this.#streams.values()) stream.changeReceiveWindow(change);
  }

  #ping({ flags }: FrameHead, payload: Buffer): void {
    if ((flags & FLAG.ack) === 0) {
      // Clients measure the connection by pings while they are sent something.
      if (this.sentCount === this.#sentAtPing) this.#countIdle('pings');
      this.#sentAtPing = this.sentCount;
      this.#observer?.pinged();
      if (this.#isOver) return;
      this.#controlled(FRAME.ping, PING_BYTES, 0, FLAG.ack);
      this.output.bytes(payload);
    } else if (this.#isClosing && payload.equals(CLOSING_PING)) {
      this.#stopTaking();
    } else if (payload.equals(PING)) {
      const ponged = this.#ponged;
      this.#ponged = undefined;
      ponged?.();
    }
  }

  /** The client knows that it is to make no more calls here. */
  #stopTaking(): void {
    if (this.#isOver || this.#takenUpTo !== LARGEST_WINDOW) return;
    this.#takenUpTo = this.#lastStreamId;
    this.#goAway(this.#lastStreamId, H2.NO_ERROR);
    this.#endIfIdle();
  }

  #reset(streamId: number): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    this.#countReset();
    stream.close();
  }

  #windowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) {
      if (bytes === 0) throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a window grows by nothing');
      this.sendWindow += bytes;
      if (this.sendWindow > LARGEST_WINDOW)
        throw new ConnectionFault(H2.FLOW_CONTROL_ERROR, 'the window of the connection becomes larger than any may be');
      return;
    }
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    if (bytes === 0) this.#fail(new StreamFault(streamId, H2.PROTOCOL_ERROR, 'a window grows by nothing'));
    else if (!stream.addSendWindow(bytes))
      this.#fail(new StreamFault(streamId, H2.FLOW_CONTROL_ERROR, 'a window becomes larger than any may be'));
  }

  /** Ends a stream, or tells the client that it is over. */
  #fail({ streamId, code }: StreamFault): void {
    this.#countReset();
    const stream = this.#streams.get(streamId);
    if (stream === undefined) this.sendReset(streamId, code);
    else stream.reset(code);
  }

  #remember(streamId: number): void {
    this.#remembered.add(streamId);
    if (this.#remembered.size <= REMEMBERED_RESETS) return;
    for (const oldest of this.#remembered) {
      this.#remembered.delete(oldest);
      return;
    }
  }

  #countReset(): void {
    if (!this.#resets.take()) throw tooMuch('calls that are taken back or broken');
  }

  #countIdle(what: string): void {
    if (!this.#idleFrames.take()) throw tooMuch(what);
  }

  /** Begins a frame that nobody waits for. */
  #controlled(type: number, length: number, streamId: number, flags = 0): void {
    if (this.output.isFull) {
      this.#controlBytes += HEAD_BYTES + length;
      if (this.#controlBytes > this.#limits.maxControlBytes) {
        this.destroy();
        return;
      }
    }
    this.output.head(length, type, flags, streamId);
  }

  #greet(): void {
    const settings = serverSettings(this.#limits);
    this.output.head(settings.length * 6, FRAME.settings, 0, 0);
    for (const [id, value] of settings) {
      this.output.uint16(id);
      this.output.uint32(value);
    }
    const more = this.#limits.connectionWindowBytes - DEFAULT_WINDOW;
    if (more > 0) {
      this.output.head(4, FRAME.windowUpdate, 0, 0);
      this.output.uint32(more);
    }
    this.output.schedule();
  }

  #goAway(lastStreamId: number, code: number, message = ''): void {
    const bytes = Buffer.from(message);
    this.output.head(8 + bytes.length, FRAME.goAway, 0, 0);
    this.output.uint32(lastStreamId);
    this.output.uint32(code);
    this.output.bytes(bytes);
    this.output.schedule();
  }

  #read(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#isReading = true;
    try {
      this.#reader.read(bytes);
    } catch (thrown) {
      this.#refuse(thrown);
    }
    this.#isReading = false;
    for (const stream of this.#finished.splice(0)) stream.stopRequest();
    this.#pump();
    this.output.flush();
  }

  /** The client is told why, and sent away. Its calls end. */
  #refuse(thrown: unknown): void {
    const fault = thrown instanceof ConnectionFault ? thrown : new ConnectionFault(H2.INTERNAL_ERROR, 'internal error');
    this.end(fault.code, fault.message);
    if (fault !== thrown) this.#init.failed(thrown);
  }

  /** Sends what waits, and closes. What the client still sends is read and dropped: bytes that nobody reads would take the last frames with them. */
  #end(): void {
    if (this.#isOver) return;
    this.output.flush();
    this.#endStreams();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), LAST_WORDS_MS).unref();
    this.#socket.on('close', () => clearTimeout(timer));
  }

  #endIfIdle(): void {
    if (this.#streams.size === 0 && this.#takenUpTo !== LARGEST_WINDOW) this.#end();
  }

  #drained(): void {
    this.#controlBytes = 0;
    this.#pump();
    this.output.flush();
  }

  /** Lets those that wait send, one frame each in turn. */
  #pump(): void {
    for (let waiting = this.#waiting; waiting.length > 0 && !this.#isOver; waiting = this.#waiting) {
      this.#waiting = [];
      let isStuck = true;
      for (const stream of waiting) {
        stream.isWaiting = false;
        const stop = stream.pump();
        if (stop === 'turn' || stop === 'done') isStuck = false;
        if (stop !== 'done' && stop !== 'stream-window') this.waits(stream);
      }
      if (isStuck) return;
    }
  }

  #begunTooLate(): void {
    this.#refuse(new ConnectionFault(H2.PROTOCOL_ERROR, 'no HTTP/2 came in time'));
  }

  #gone(): void {
    this.#endStreams();
    this.output.close();
    this.#observer?.closed();
    this.#init.closed(this);
  }

  #endStreams(): void {
    this.#isOver = true;
    clearTimeout(this.#beginTimer);
    this.#reader.stop();
    for (const stream of [...this.#streams.values()]) stream.close();
    this.#waiting = [];
  }
}

function ignore(): void {}

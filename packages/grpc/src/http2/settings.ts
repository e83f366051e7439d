/** Settings that peers tell each other. Source: RFC 9113, 6.5. */
import { ConnectionFault, H2 } from './faults.ts';
import { DEFAULT_FRAME_BYTES, DEFAULT_WINDOW, LARGEST_FRAME_BYTES, LARGEST_WINDOW, SETTING } from './frames.ts';
import type { Http2Limits } from './limits.ts';

/** What the client has told. */
export interface PeerSettings {
  initialWindow: number;
  frameBytes: number;
  /** Undefined until it tells. */
  tableBytes: number | undefined;
}

export const INITIAL_PEER_SETTINGS: PeerSettings = {
  initialWindow: DEFAULT_WINDOW,
  frameBytes: DEFAULT_FRAME_BYTES,
  tableBytes: undefined,
};

const ENTRY_BYTES = 6;

/** Settings of the server, as identifiers and values. */
export function serverSettings(limits: Http2Limits): readonly (readonly [id: number, value: number])[] {
  return [
    [SETTING.maxConcurrentStreams, limits.maxConcurrentCalls],
    [SETTING.initialWindowSize, limits.callWindowBytes],
    [SETTING.maxFrameSize, limits.maxFrameBytes],
    [SETTING.maxHeaderListSize, limits.maxMetadataBytes],
  ];
}

/**
 * @param payload  of a SETTINGS frame; its length has been checked
 * @returns the settings with what the payload changes; what is unknown is passed over
 * @throws {ConnectionFault} PROTOCOL_ERROR, FLOW_CONTROL_ERROR for a value that none may have
 */
export function withSettings(settings: PeerSettings, payload: Buffer): PeerSettings {
  const changed = { ...settings };
  for (let at = 0; at < payload.length; at += ENTRY_BYTES) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case SETTING.headerTableSize:
        changed.tableBytes = value;
        break;
      case SETTING.enablePush:
        if (value > 1) throw refused(H2.PROTOCOL_ERROR, 'ENABLE_PUSH', value);
        break;
      case SETTING.initialWindowSize:
        if (value > LARGEST_WINDOW) throw refused(H2.FLOW_CONTROL_ERROR, 'INITIAL_WINDOW_SIZE', value);
        changed.initialWindow = value;
        break;
      case SETTING.maxFrameSize:
        if (value < DEFAULT_FRAME_BYTES || value > LARGEST_FRAME_BYTES)
          throw refused(H2.PROTOCOL_ERROR, 'MAX_FRAME_SIZE', value);
        changed.frameBytes = value;
        break;
    }
  }
  return changed;
}

function refused(code: number, name: string, value: number): ConnectionFault {
  return new ConnectionFault(code, `the setting ${name} cannot be ${value}`);
}

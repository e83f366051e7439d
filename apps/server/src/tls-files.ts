/** Certificates of a protocol: the options that name them, and their files. */
import { readFileSync } from 'node:fs';
import { StartError, UsageError } from './errors.ts';
import type { FlagValues } from './flags/table.ts';

type Protocol = 'http' | 'grpc';

const TITLES: Readonly<Record<Protocol, string>> = { http: 'HTTP', grpc: 'gRPC' };

/** Files in PEM form. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** '' for none. */
  readonly root: string;
  readonly requireClientCertificate: boolean;
}

/** What the files hold. */
export interface TlsTexts {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly requireClientCertificate: boolean;
}

/**
 * @returns undefined for plain text
 * @throws {UsageError} when a file is missing, or certificates are given without TLS
 */
export function tlsFromFlags(values: FlagValues, protocol: Protocol): TlsFiles | undefined {
  const cert = values[`${protocol}-server-cert`];
  const key = values[`${protocol}-server-key`];
  const root = values[`${protocol}-root-cert`];
  const isMutual = values[`${protocol}-use-ssl-mutual`];
  if (!values[`${protocol}-use-ssl`] && !isMutual) {
    if (cert === '' && key === '' && root === '') return undefined;
    throw new UsageError(
      `certificates for ${TITLES[protocol]} are given, and TLS is not turned on: add --${protocol}-use-ssl=true`,
    );
  }
  if (cert === '' || key === '')
    throw new UsageError(
      `--${protocol}-use-ssl needs --${protocol}-server-cert and --${protocol}-server-key: name both PEM files`,
    );
  if (isMutual && root === '')
    throw new UsageError(
      `--${protocol}-use-ssl-mutual needs --${protocol}-root-cert: the authorities of the client certificates`,
    );
  return { cert, key, root, requireClientCertificate: isMutual };
}

/** @throws {StartError} when a file cannot be read */
export function readTlsFiles(files: TlsFiles, protocol: Protocol): TlsTexts {
  return {
    cert: read(`${protocol}-server-cert`, files.cert),
    key: read(`${protocol}-server-key`, files.key),
    ca: files.root === '' ? undefined : read(`${protocol}-root-cert`, files.root),
    requireClientCertificate: files.requireClientCertificate,
  };
}

function read(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`--${flag} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Makes a server of certificates.
 * @throws {StartError} when OpenSSL cannot use them
 */
export function withCertificates<Server>(protocol: Protocol, make: () => Server): Server {
  try {
    return make();
  } catch (error) {
    throw new StartError(`${TITLES[protocol]} cannot be served with these certificates: ${String(error)}`);
  }
}

/** What is served, told to clients that have no .proto of it: the files as descriptors, by name and by what they define. */
import type { Call, CallHandler } from './call.ts';
import { DESCRIPTORS, type DescribedFile } from './generated/descriptors.ts';
import { type Plain, readPlain, text } from './plain-message.ts';
import { messageType } from './schema.ts';
import { STATUS } from './status.ts';

/** Both versions have the same messages. */
export const REFLECTION_PATHS: ReadonlySet<string> = new Set(
  ['v1', 'v1alpha'].map((version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`),
);

const FILE_BY_NAME = new Map<string, DescribedFile>(DESCRIPTORS.map((file) => [file.name, file]));
const FILE_BY_SYMBOL = new Map<string, DescribedFile>(
  DESCRIPTORS.flatMap((file) => file.symbols.map((symbol): [string, DescribedFile] => [symbol, file])),
);
const SERVICES = DESCRIPTORS.flatMap(({ services }) => services);

/** A question is a name. */
const MAX_QUESTION_BYTES = 64 * 1024;

/**
 * `ServerReflectionInfo`: many questions, each with one answer, in order. A question waits until the answer before it has left, as a small one may have a large
 * answer.
 */
export class Reflection implements CallHandler {
  readonly #call: Call;
  readonly #questions: Buffer[] = [];
  /** The answer before has not left. */
  #isAnswering = false;
  #isRunning = false;
  #isHalfClosed = false;

  constructor(call: Call) {
    this.#call = call;
  }

  message(bytes: Buffer): void {
    this.#questions.push(bytes);
    this.#next();
  }

  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#next();
  }

  cancelled(): void {
    this.#questions.length = 0;
  }

  #next(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (!this.#isAnswering && !this.#call.isOver) {
      const question = this.#questions.shift();
      if (question !== undefined) this.#answer(question);
      else {
        if (this.#isHalfClosed) this.#call.end();
        break;
      }
    }
    this.#isRunning = false;
  }

  #answer(question: Buffer): void {
    try {
      const bytes = answerTo(question);
      this.#isAnswering = true;
      this.#call.send({ pieces: [bytes], byteLength: bytes.byteLength, isCopied: true }, () => this.#answered());
      if (this.#isAnswering) this.#call.pause();
    } catch (thrown) {
      this.#call.fail(thrown);
    }
  }

  #answered(): void {
    this.#isAnswering = false;
    this.#call.resume();
    this.#next();
  }
}

function answerTo(question: Buffer): Uint8Array {
  const asked = readPlain('grpc.reflection.v1.ServerReflectionRequest', question, MAX_QUESTION_BYTES);
  const answer = { validHost: text(asked, 'host'), originalRequest: asked, ...told(asked) };
  return messageType('grpc.reflection.v1.ServerReflectionResponse').encode(answer).finish();
}

/** What is not there is told in an answer: the call goes on. */
function told(asked: Plain): Plain {
  if ('listServices' in asked) return { listServicesResponse: { service: SERVICES.map((name) => ({ name })) } };
  if ('fileByFilename' in asked) return fileOr(FILE_BY_NAME, text(asked, 'fileByFilename'));
  if ('fileContainingSymbol' in asked) return fileOr(FILE_BY_SYMBOL, text(asked, 'fileContainingSymbol'));
  if ('fileContainingExtension' in asked || 'allExtensionNumbersOfType' in asked)
    return refusal(STATUS.NOT_FOUND, 'no message of this server has extensions');
  return refusal(STATUS.INVALID_ARGUMENT, 'the request asks nothing: set one field of message_request');
}

function fileOr(files: ReadonlyMap<string, DescribedFile>, name: string): Plain {
  const file = files.get(name);
  if (file === undefined) return refusal(STATUS.NOT_FOUND, `'${name}' is not found`);
  const fileDescriptorProto = withImports(file).map(({ base64 }) => Buffer.from(base64, 'base64'));
  return { fileDescriptorResponse: { fileDescriptorProto } };
}

/** The file first, as clients expect. */
function withImports(file: DescribedFile): readonly DescribedFile[] {
  const imported = file.imports.flatMap((name) => FILE_BY_NAME.get(name) ?? []);
  return [file, ...imported.flatMap(withImports)];
}

const refusal = (errorCode: number, errorMessage: string): Plain => ({ errorResponse: { errorCode, errorMessage } });

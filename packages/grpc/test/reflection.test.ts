import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { usePython } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESCRIPTORS } from '../src/generated/descriptors.ts';
import { type Served, serve } from './fixture.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const definition = loadSync(path('../proto/reflection.proto'), { keepCase: true, oneofs: true, defaults: false });
const loaded = definition['grpc.reflection.v1.ServerReflection'] as grpc.ServiceDefinition;

const VERSIONS = ['v1', 'v1alpha'] as const;

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

/** The answers to questions on one stream. */
function ask(questions: readonly object[], version: (typeof VERSIONS)[number] = 'v1') {
  const method = loaded.ServerReflectionInfo;
  if (method === undefined) throw new Error('reflection.proto has no ServerReflectionInfo');
  const call = served.client.makeBidiStreamRequest(
    method.path.replace('v1', version),
    method.requestSerialize,
    method.responseDeserialize,
  );
  // biome-ignore lint/suspicious/noExplicitAny: messages are what the .proto says
  return new Promise<any[]>((resolve, reject) => {
    // biome-ignore lint/suspicious/noExplicitAny: messages are what the .proto says
    const answers: any[] = [];
    call.on('data', (answer) => answers.push(answer));
    call.on('error', reject);
    call.on('end', () => resolve(answers));
    for (const question of questions) call.write(question);
    call.end();
  });
}

/** Descriptors of a file and its imports, as base64. */
async function filesOf(question: object): Promise<string[]> {
  const [answer] = await ask([question]);
  return answer.file_descriptor_response.file_descriptor_proto.map((bytes: Buffer) => bytes.toString('base64'));
}

describe('server reflection', () => {
  it.each(VERSIONS)('%s lists the services', async (version) => {
    const [answer] = await ask([{ list_services: '' }], version);
    expect(answer.list_services_response.service.map(({ name }: { name: string }) => name)).toEqual([
      'inference.GRPCInferenceService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    expect(answer.original_request).toEqual({ list_services: '', message_request: 'list_services' });
  });

  it.each([
    { file_by_filename: 'grpc_service.proto' },
    { file_containing_symbol: 'inference.GRPCInferenceService' },
    { file_containing_symbol: 'inference.GRPCInferenceService.ModelInfer' },
    { file_containing_symbol: 'inference.ModelInferRequest.InferInputTensor' },
  ])('answers %j with the file and what it imports', async (question) => {
    const names = ['grpc_service.proto', 'model_config.proto'];
    const expected = names.map((name) => DESCRIPTORS.find((file) => file.name === name)?.base64);
    expect(await filesOf(question)).toEqual(expected);
  });

  it.each([
    { file_by_filename: 'nosuch.proto' },
    { file_containing_symbol: 'inference.NoSuch' },
    { file_containing_symbol: '' },
    { file_containing_extension: { containing_type: 'inference.ModelInferRequest', extension_number: 1 } },
    { all_extension_numbers_of_type: 'inference.ModelInferRequest' },
  ])('answers %j with not found, and goes on', async (question) => {
    const answers = await ask([question, { list_services: '' }]);
    expect(answers[0].error_response.error_code).toBe(grpc.status.NOT_FOUND);
    expect(answers[1].message_response).toBe('list_services_response');
  });

  it('answers a question without content with invalid argument', async () => {
    const [answer] = await ask([{ host: 'here' }]);
    expect(answer).toMatchObject({ valid_host: 'here', error_response: { error_code: grpc.status.INVALID_ARGUMENT } });
  });

  it('answers many questions in their order, also when the answers are more than the client has room for', async () => {
    const names = ['model_config.proto', 'grpc_service.proto'];
    const questions = Array.from({ length: 400 }, (_, i) => ({ file_by_filename: names[i % 2] }));
    const answers = await ask(questions);
    expect(answers.map(({ original_request }) => original_request.file_by_filename)).toEqual(
      questions.map(({ file_by_filename }) => file_by_filename),
    );
  });

  it('describes what tritonclient has, in files that fit together', async () => {
    const files = (await Promise.all(DESCRIPTORS.map(({ name }) => filesOf({ file_by_filename: name })))).flatMap(
      ([file]) => file ?? [],
    );
    const options = { encoding: 'utf8', input: files.join('\n') } as const;
    const ours = JSON.parse(execFileSync(usePython(), [path('described.py')], options));
    const theirs = JSON.parse(execFileSync(usePython(), [path('descriptors.py')], options));
    const names = Object.keys(theirs.messages);
    expect(Object.fromEntries(names.map((name) => [name, ours.messages[name]]))).toEqual(theirs.messages);
    expect(ours.services).toMatchObject(theirs.services);
  });
});

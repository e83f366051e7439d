import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, failureAnswer, methodNotAllowedAnswer, notFoundAnswer } from './answer.ts';
import { readBody } from './body-reader.ts';
import { answerCall, takesBody } from './calls.ts';
import { GenerateExchange } from './generate-exchange.ts';
import { InferEndpoint } from './infer-endpoint.ts';
import { type HttpSettings, type NereidHttpOptions, resolveOptions } from './options.ts';
import { restrictionOf } from './restriction.ts';
import { type InferenceRoute, isInference, matchRoute, methodsOf, pathOf, type Route } from './routes.ts';

/**
 * Fastify plugin that serves the v2 protocol under `/v2`. It works on any fastify instance; with `createServerFactory` inference also skips fastify's router.
 * Bodies are read by the plugin itself, so the content type is ignored and `bodyLimit` does not apply. Unknown paths anywhere on the
 * instance are answered as the protocol does, with 404 and `{"error":"Not Found"}`.
 */
export async function nereidHttp(app: FastifyInstance, options: NereidHttpOptions): Promise<void> {
  if (app.prefix !== '') throw new TypeError(`register nereidHttp without a prefix, found '${app.prefix}'`);
  const settings = resolveOptions(options);
  const front = new FastifyFront(settings);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('preClose', async () => front.close());
  const handler = (request: FastifyRequest, reply: FastifyReply) => front.handle(request, reply);
  app.all('/v2', handler);
  app.all('/v2/*', handler);
  app.setNotFoundHandler(handler);
}

/** Takes fastify's requests apart: what runs a model answers on the connection itself, everything else is answered through fastify's reply. */
class FastifyFront {
  readonly #settings: HttpSettings;
  readonly #infer: InferEndpoint;
  #isClosing = false;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
    this.#infer = new InferEndpoint(settings);
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  close(): void {
    this.#isClosing = true;
  }

  async handle({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { cors } = this.#settings;
    cors?.decorate(raw, reply.raw);
    if (cors?.tryPreflight(raw, reply.raw) === true) {
      reply.hijack();
      return;
    }
    if (this.#infer.tryHandle(raw, reply.raw, this)) {
      reply.hijack();
      return;
    }
    const route = matchRoute(pathOf(raw.url ?? ''));
    if (raw.method === 'POST' && (route?.kind === 'generate' || route?.kind === 'generate-stream')) {
      reply.hijack();
      this.#generate(route, raw, reply.raw);
      return;
    }
    const answer = await this.#answer(route, raw);
    reply.code(answer.status).header('content-type', answer.contentType);
    if (answer.headers !== undefined) reply.headers(answer.headers);
    // Bytes, as fastify would add a charset to the type of a text.
    await reply.send(Buffer.from(answer.body));
  }

  #generate(route: InferenceRoute, request: IncomingMessage, response: ServerResponse): void {
    const target = { modelName: route.name, modelVersion: route.version };
    const isStream = route.kind === 'generate-stream';
    const settings = this.#settings;
    new GenerateExchange({ settings, request, response, state: this, target, isStream }).start();
  }

  async #answer(route: Route | undefined, raw: IncomingMessage): Promise<Answer> {
    if (route === undefined) return notFoundAnswer();
    const restriction = restrictionOf(route.kind, raw.headers, this.#settings);
    if (restriction !== undefined) return failureAnswer(restriction, this.#settings.logger);
    const methods = methodsOf(route);
    const isTaken = methods.some((method) => method === raw.method);
    if (!isTaken || isInference(route)) return methodNotAllowedAnswer(methods.join(', '));
    try {
      const body = takesBody(route) && raw.method === 'POST' ? await this.#readText(raw) : '';
      return await answerCall(route, body, this.#settings);
    } catch (thrown) {
      return failureAnswer(thrown, this.#settings.logger);
    }
  }

  #readText(message: IncomingMessage): Promise<string> {
    return new Promise((resolve, reject) => {
      const sink = { bodyRead: (body: Buffer) => resolve(body.toString('utf8')), bodyRefused: reject };
      readBody(message, {
        maxBytes: this.#settings.maxCallBodyBytes,
        advice: 'Calls that run no model take no more.',
        sink,
      });
    });
  }
}

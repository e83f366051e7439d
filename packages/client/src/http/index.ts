export * from '../common.ts';
export {
  type GenerateAnswer,
  type GenerateValues,
  type HttpAnswer,
  HttpClient,
  type HttpClientOptions,
  type HttpInferBody,
  type HttpInferOptions,
  type HttpRequest,
  modelPath,
} from './client.ts';
export { type Fetch, fetchTransport, type HttpExchange, type HttpReply, type HttpTransport } from './transport.ts';

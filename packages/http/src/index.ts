export { HttpError, type HttpErrorReason } from './errors.ts';
export type { DocsPage, NereidHttpOptions } from './options.ts';
export { nereidHttp } from './plugin.ts';
export {
  createServerFactory,
  type ServerFactoryOptions,
  type ServerTimeouts,
  type TlsOptions,
} from './server-factory.ts';
export { HTTP_STATUS } from './status.ts';

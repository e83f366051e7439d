export { HttpError, type HttpErrorReason } from './errors.ts';
export type { NereidHttpOptions } from './options.ts';
export { nereidHttp } from './plugin.ts';
export { createServerFactory, type ServerFactoryOptions, type ServerTimeouts } from './server-factory.ts';
export { HTTP_STATUS } from './status.ts';

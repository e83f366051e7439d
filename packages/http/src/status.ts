import type { ErrorCode } from '@nereid/core';

/** The one table from error codes to HTTP. Source: triton server `src/http_server.cc` `HttpCodeFromError`. */
export const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_ARG: 400,
  ALREADY_EXISTS: 400,
  CANCELLED: 400,
  UNKNOWN: 400,
  NOT_FOUND: 404,
  INTERNAL: 500,
  UNSUPPORTED: 501,
  UNAVAILABLE: 503,
};

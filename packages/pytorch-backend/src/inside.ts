import { isAbsolute, relative, resolve, sep } from 'node:path';

/** The absolute path that `name` stands for in a directory; undefined when it is the directory itself or leads out of it. */
export function resolveInside(directory: string, name: string): string | undefined {
  const path = resolve(directory, name);
  const inside = relative(directory, path);
  const isInside = !isAbsolute(inside) && inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`);
  return isInside ? path : undefined;
}

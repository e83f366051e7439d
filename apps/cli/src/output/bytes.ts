const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1 byte`, `512 bytes`, `1.4 MiB`. */
export function formatBytes(count: number): string {
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  if (unit === 0) return count === 1 ? '1 byte' : `${count} bytes`;
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** Counted resources that executions hold: how many there are, and how many are left. It grants nothing by itself. */
import { RateLimitError } from './errors.ts';

/** What an instance holds while it runs: the fields of a Triton rate limiter resource. */
export interface ResourceDemand {
  /** Compared without regard to case. */
  readonly name: string;
  /** Copies; a whole number from 0 on. Demands of one name add up. */
  readonly count: number;
  /** Whether all devices share one pool of it instead of having one each; false by default. */
  readonly global?: boolean;
}

/** How many copies of a resource there are. */
export interface ResourceLimit {
  readonly name: string;
  readonly count: number;
  /** The device that has them; left out, each has so many. A global resource has the most that is said of its name, whatever the device. */
  readonly device?: number | undefined;
}

/** A resource of one device, or of all. */
export interface ResourceUse {
  readonly name: string;
  /** Absent for a global one. */
  readonly device?: number;
  readonly limit: number;
  readonly allocated: number;
}

/** What one instance holds of one resource. */
export interface Holding {
  readonly resource: Resource;
  readonly count: number;
}

interface Resource {
  readonly name: string;
  readonly device: number | undefined;
  limit: number;
  allocated: number;
  /** Holdings of all instances, of which the largest makes the limit when none is given. */
  readonly holdings: Set<Holding>;
}

/** Demands of one instance. */
export interface DeviceDemand {
  readonly device: number;
  readonly resources: readonly ResourceDemand[];
}

export class ResourcePool {
  readonly #limits: readonly ResourceLimit[] | undefined;
  #resources = new Map<string, Resource>();

  /** @param limits  of every resource there is, one that is left out has 0; without limits, each has as many as the instance that holds most of it */
  constructor(limits: readonly ResourceLimit[] | undefined) {
    for (const { name, count } of limits ?? []) checkCount({ name, count });
    this.#limits = limits;
  }

  get uses(): readonly ResourceUse[] {
    return [...this.#resources.values()].map(({ name, device, limit, allocated }) =>
      device === undefined ? { name, limit, allocated } : { name, device, limit, allocated },
    );
  }

  /**
   * Makes room for instances that may hold resources.
   * @returns what each instance holds while it runs
   * @throws {RateLimitError} for a limit that one of them exceeds, and a name that is global and not; nothing has changed then
   */
  add(instances: readonly DeviceDemand[]): readonly (readonly Holding[])[] {
    const resources = new Map(this.#resources);
    const added = instances.map((instance) => this.#holdings(instance, resources));
    const all = added.flat();
    for (const { resource, count } of all) {
      const limit = this.#limitOf(resource, count);
      if (count > limit)
        throw tooFew({ ...resource, limit }, mostOf(all.filter((other) => other.resource === resource)));
    }
    this.#resources = resources;
    for (const holding of all) {
      const { resource, count } = holding;
      resource.holdings.add(holding);
      resource.limit = this.#limitOf(resource, Math.max(resource.limit, count));
    }
    return added;
  }

  /** Forgets an instance that holds nothing any more. */
  remove(holdings: readonly Holding[]): void {
    for (const holding of holdings) {
      const { resource } = holding;
      resource.holdings.delete(holding);
      resource.limit = this.#limitOf(resource, mostOf(resource.holdings));
      if (resource.holdings.size === 0) this.#resources.delete(keyOf(resource.name, resource.device));
    }
  }

  #holdings({ device, resources: demands }: DeviceDemand, resources: Map<string, Resource>): readonly Holding[] {
    const counts = new Map<Resource, number>();
    for (const { name, count, global = false } of demands) {
      checkCount({ name, count });
      const resource = findResource(resources, { name, device: global ? undefined : device });
      counts.set(resource, (counts.get(resource) ?? 0) + count);
    }
    return [...counts].map(([resource, count]) => ({ resource, count }));
  }

  /** @param most  the largest holding */
  #limitOf({ name, device }: Resource, most: number): number {
    if (this.#limits === undefined) return most;
    const counts = this.#limits
      .filter((limit) => isSameName(limit.name, name))
      .filter((limit) => device === undefined || limit.device === undefined || limit.device === device)
      .map(({ count }) => count);
    return Math.max(0, ...counts);
  }
}

/** Whether all of it is left, so that it can be taken at once. */
export function isLeft(holdings: readonly Holding[]): boolean {
  return holdings.every(({ resource, count }) => resource.allocated + count <= resource.limit);
}

export function take(holdings: readonly Holding[]): void {
  for (const { resource, count } of holdings) resource.allocated += count;
}

export function giveBack(holdings: readonly Holding[]): void {
  for (const { resource, count } of holdings) resource.allocated -= count;
}

/** @throws {RateLimitError} `mixed-scope` when the name is known in the other scope */
function findResource(
  resources: Map<string, Resource>,
  { name, device }: { readonly name: string; readonly device: number | undefined },
): Resource {
  const key = keyOf(name, device);
  const known = resources.get(key);
  if (known !== undefined) return known;
  for (const other of resources.values()) {
    if (isSameName(other.name, name) && (other.device === undefined) !== (device === undefined)) throw mixedScope(name);
  }
  const resource: Resource = { name, device, limit: 0, allocated: 0, holdings: new Set() };
  resources.set(key, resource);
  return resource;
}

function keyOf(name: string, device: number | undefined): string {
  return `${device ?? 'global'} ${name.toLowerCase()}`;
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function mostOf(holdings: Iterable<Holding>): number {
  let most = 0;
  for (const { count } of holdings) most = Math.max(most, count);
  return most;
}

function checkCount({ name, count }: Pick<ResourceLimit, 'name' | 'count'>): void {
  if (Number.isInteger(count) && count >= 0) return;
  throw new RangeError(`the count of resource '${name}' must be a whole number from 0 on, got ${count}`);
}

function tooFew({ name, device, limit }: Pick<Resource, 'name' | 'device' | 'limit'>, needed: number): RateLimitError {
  const place = device === undefined ? '' : ` on device ${device}`;
  return new RateLimitError(
    'too-few',
    `Resource count for "${name}" is limited to ${limit}${place}, but an instance needs ${needed} to run: allow ${needed} at least, or let the instance demand fewer`,
  );
}

function mixedScope(name: string): RateLimitError {
  return new RateLimitError(
    'mixed-scope',
    `Resource "${name}" is present as both global and device-specific: give it the same 'global' in every instance group, or two names`,
  );
}

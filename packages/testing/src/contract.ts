/** What every backend promises, as a vitest suite. Run it over each implementation; it needs vitest, so it has an entry of its own. */
import type { Backend } from '@nereid/core';
import { afterEach, describe, it } from 'vitest';
import { type ContractModelName, type ContractRule, type ContractSubject, RULES } from './contract-rules.ts';
import { type ContractModel, type ContractNames, OpenModel } from './open-model.ts';

export type { ContractModelName, ContractRule } from './contract-rules.ts';
export type { ContractModel, ContractNames } from './open-model.ts';

export interface BackendContractOptions<Config> {
  /** Names the implementation in the report. */
  readonly name: string;
  readonly makeBackend: () => Backend<Config> | Promise<Backend<Config>>;
  /** Gives name, version, directories and configuration of a model; called once per load. */
  readonly makeModel: (model: ContractModelName) => ContractModel<Config> | Promise<ContractModel<Config>>;
  /** Tensor names where the implementation cannot have the contract's own. */
  readonly names?: Partial<ContractNames>;
  /** Rules that do not apply, each with the reason, which the report shows. */
  readonly skip?: Partial<Record<ContractRule, string>>;
}

const NAMES: ContractNames = { a: 'a', b: 'b', sum: 'sum', diff: 'diff', x: 'x', y: 'y' };

/** Declares the suite; call it at the top level of a test file. */
export function runBackendContract<Config>(options: BackendContractOptions<Config>): void {
  const { subject, closeAll } = contractSubject(options);
  describe(`backend contract: ${options.name}`, () => {
    afterEach(closeAll);
    for (const id of Object.keys(RULES).filter(isRule)) {
      const { title, check } = RULES[id];
      const reason = options.skip?.[id];
      if (reason === undefined) it(title, () => check(subject));
      else it.skip(`${title} (skipped: ${reason})`, () => check(subject));
    }
  });
}

/** @internal The subject of the rules over an implementation, and the way to close what they opened. */
export function contractSubject<Config>(options: BackendContractOptions<Config>): {
  readonly subject: ContractSubject;
  closeAll(): Promise<void>;
} {
  const names = { ...NAMES, ...options.names };
  const opened: OpenModel[] = [];
  const open: ContractSubject['open'] = async (model, instances = 1) => {
    const backend = await options.makeBackend();
    const made = await OpenModel.open(backend, await options.makeModel(model), { names, instances });
    opened.push(made);
    return made;
  };
  const closeAll = async () => {
    for (const model of opened.splice(0)) await model.close();
  };
  return { subject: { names, open }, closeAll };
}

function isRule(id: string): id is ContractRule {
  return Object.hasOwn(RULES, id);
}

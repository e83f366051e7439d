/** Everything about one model: what it takes and gives, forms to ask it, its statistics and configuration. */
import { block, element, labelled, table } from './dom.ts';
import { generatePanel } from './generate-panel.ts';
import { inferPanel } from './infer-panel.ts';
import { isDecoupled, openModel, type ShownModel, takesGenerate } from './model.ts';
import { describe, type IndexEntry, type Server, type TensorMetadata } from './server.ts';
import { statisticsPanel } from './statistics-panel.ts';
import { type Tab, tabs } from './tabs.ts';

export interface ModelPlace {
  readonly name: string;
  /** '' for the latest. */
  readonly version: string;
}

/** @param entries  what the index says of the model @param choose  goes to another version */
export async function modelView(
  server: Server,
  { name, version }: ModelPlace,
  { entries, choose }: { readonly entries: readonly IndexEntry[]; readonly choose: (version: string) => void },
): Promise<Node> {
  const view = document.createDocumentFragment();
  view.append(element('h2', {}, name), ...faults(entries));
  try {
    const model = await openModel(server, name, version);
    view.append(
      element('p', { class: 'hint' }, `${model.metadata.platform}`),
      ...versionChoice(entries, version, choose),
      tensorTable(model),
      tabs(`Ways to use ${name}`, panels(model), isDecoupled(model) && takesGenerate(model) ? 'generate' : 'infer'),
    );
  } catch (thrown) {
    view.append(element('p', { class: 'error', role: 'alert' }, describe(thrown)));
  }
  return view;
}

function faults(entries: readonly IndexEntry[]): readonly Node[] {
  return entries
    .filter(({ reason }) => reason !== undefined)
    .map(({ version, state, reason = '' }) =>
      element(
        'p',
        { class: 'error' },
        `${version === undefined ? '' : `version ${version} `}${state ?? ''}: ${reason}`,
      ),
    );
}

function versionChoice(
  entries: readonly IndexEntry[],
  version: string,
  choose: (version: string) => void,
): readonly Node[] {
  const ready = entries.flatMap((entry) => (entry.state === 'READY' && entry.version ? [entry.version] : []));
  if (ready.length < 2) return [];
  const option = (value: string, text: string) => {
    const made = element('option', { value }, text);
    made.selected = value === version;
    return made;
  };
  const select = element('select', {}, option('', 'latest'), ...ready.map((each) => option(each, each)));
  select.addEventListener('change', () => choose(select.value));
  return [labelled('Version', select)];
}

function tensorTable({ metadata }: ShownModel): HTMLElement {
  const row =
    (kind: string) =>
    ({ name, datatype, shape }: TensorMetadata) => [name, kind, datatype, `[${shape.join(', ')}]`];
  return table(
    'Tensors; −1 is a variable dimension',
    ['name', 'kind', 'datatype', 'shape'],
    [...metadata.inputs.map(row('input')), ...metadata.outputs.map(row('output'))],
  );
}

function panels(model: ShownModel): readonly Tab[] {
  const statistics = statisticsPanel(model);
  return [
    { id: 'infer', title: 'Infer', content: () => inferPanel(model) },
    ...(takesGenerate(model) ? [{ id: 'generate', title: 'Generate', content: () => generatePanel(model) }] : []),
    { id: 'statistics', title: 'Statistics', content: () => statistics.node, shown: statistics.refresh },
    { id: 'config', title: 'Configuration', content: () => configNode(model) },
  ];
}

function configNode({ config, path }: ShownModel): Node {
  const link = element('a', { href: `${path}/openapi.json` }, 'OpenAPI document of this model');
  const text = config === undefined ? 'The server does not tell it.' : JSON.stringify(config, null, 2);
  return element('div', {}, element('p', {}, link), block('Configuration', text));
}

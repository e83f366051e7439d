import { writeFileSync } from 'node:fs';
import { library } from '../../tsup.base.ts';
import { buildPage } from './build-page.ts';

export default library({ onSuccess: async () => writeFileSync('dist/page.html', await buildPage()) });

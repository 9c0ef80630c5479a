// `node scripts/run-tool.mjs <path below node_modules> …`: runs a tool of the development packages, and installs these first when they are
// missing: `npm start` installs without them.
import { join } from 'node:path'
import { ensureInstalled, root, run } from './prepare.mjs'

const [tool, ...args] = process.argv.slice(2)
await ensureInstalled('test')
run(process.execPath, [join(root, 'node_modules', tool), ...args])

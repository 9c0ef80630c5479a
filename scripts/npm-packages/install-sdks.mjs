// Installs SDKs into `.cache/sdks`, where tests/clients/posthog-app-sdks.test.ts finds them. They are not in the lock file, because
// their peer dependencies are React Native and its modules, of which the tests need none.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, say } from '../prepare.mjs'

const folder = join(root, '.cache/sdks')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
const sdks = [
  'posthog-react-native@4.78.0',
  'posthog-react-native-3@npm:posthog-react-native@3.16.1',
  '@babel/runtime@7.28.4',
  'react@19.2.0',
]
say(`Installing ${sdks.join(', ')} …`)
const options = ['--no-audit', '--no-fund', '--loglevel=error', '--legacy-peer-deps', '--ignore-scripts']
run('npm', ['install', ...options, ...sdks], { cwd: folder })

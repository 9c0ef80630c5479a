import { ConfigError } from '../config.ts'
import { DataFolderError } from '../edge/data-folder.ts'
import { Problem } from '../problem.ts'
import { NewerDatabaseError } from '../storage/migrations/migrate.ts'
import { DatabaseFileError } from '../storage/sqlite/sqlite-file.ts'
import { ImportError } from '../storage/transfer/read-export.ts'
import { backup } from './data/backup.ts'
import { importCommand } from './data/import.ts'
import { migrateCommand } from './data/migrate.ts'
import { exportCommand, migrateStoreCommand, restoreCommand } from './data/transfer.ts'
import { demo } from './demo/demo.ts'
import { doctor } from './doctor.ts'
import { edge } from './edge.ts'
import { keys } from './keys.ts'
import { plugins } from './plugins.ts'
import { serve } from './serve.ts'
import { UsageError } from './usage.ts'
import { users } from './users.ts'

const usage = `halyard: feature flags and plugins

  halyard serve                                  serve (what npm start does)
  halyard edge --upstream URL                    serve near your users, without a database; see halyard edge --help
  halyard migrate                                bring the database schema up to date and stop
  halyard keys create --email E [--label L] [--scopes a:read,b:write] [--expires-in-days N]
  halyard keys list --email E
  halyard keys revoke --email E <key id>
  halyard users create --email E --first-name N [--level member|admin]
  halyard users reset-password --email E
  halyard users promote|demote --email E         instance administrators set plugin levels
  halyard plugins test <folder> [--input F]      try a plugin against sample events and flag changes
  halyard backup <file>                          online, consistent copy of a SQLite database
  halyard restore <backup>                       put a backup in the place of the SQLite database
  halyard export <file> [--project N]            everything, or one project, as readable lines of JSON
  halyard import <file> [--dry-run]              an export into an empty database; or an exported project, as a new one, into one in use
                 [--organization O] [--name N]   the organization that gets it (id, slug or name), and what it is called there
  halyard migrate-store <from> <to>              sqlite:<path> to postgres://… or back; resumable, verified
  halyard doctor [--security]                    check settings, database, disk and clock; or what makes attacks easier
  halyard demo [--url U] [--key K] [--remove]    an organization full of examples, or away with it again

Settings are environment variables: docs/reference/settings.md.`

const commands: Record<string, (args: string[]) => Promise<void>> = {
  serve,
  edge,
  migrate: migrateCommand,
  keys,
  users,
  plugins,
  backup,
  restore: restoreCommand,
  export: exportCommand,
  import: importCommand,
  'migrate-store': migrateStoreCommand,
  doctor,
  demo,
}

async function main(): Promise<void> {
  const [name = 'serve', ...args] = process.argv.slice(2)
  if (name === 'help' || name === '--help' || name === '-h') {
    console.log(usage)
    return
  }
  const command = commands[name]
  if (!command) throw new UsageError(`There is no command "${name}".\n\n${usage}`)
  await command(args)
}

/** What the person at the keyboard can mend gets a sentence; a bug gets its stack. */
main().catch(error => {
  const isForPeople =
    error instanceof ConfigError ||
    error instanceof NewerDatabaseError ||
    error instanceof DataFolderError ||
    error instanceof DatabaseFileError ||
    error instanceof ImportError ||
    error instanceof Problem ||
    error instanceof UsageError ||
    typeof (error as { code?: unknown })?.code === 'string'
  console.error(isForPeople ? `halyard: ${error.message}` : error)
  process.exitCode = 1
  // The channel to a supervisor would keep this process alive.
  if (process.connected) process.exit()
})

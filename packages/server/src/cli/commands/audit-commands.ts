import { type Command, Option } from 'commander'
import { group, jsonOption, load, wholeNumber } from './options.ts'

export function addAuditCommands(program: Command): void {
  const audit = group(
    program,
    'audit',
    'verify audit logs, exported or in the database; print and export them, beside the database',
  )
  audit
    .command('verify [file]')
    .description(
      'verify an export (JSON Lines) on its own: changed, missing, swapped and cut-off entries are reported; without a file, the logs in the database and the columns by which they are filtered',
    )
    .option('--head <hash>', 'hash of an entry that was noted earlier and must be in the log')
    .option('--after <hash>', 'head of an earlier export that this one continues')
    .option('--key <fingerprint>', 'of the key that signs checkpoints, as `halyard audit head` prints it')
    .addOption(jsonOption())
    .action(load(async () => (await import('../audit/verify.ts')).verify))
  audit
    .command('head')
    .description(
      'print the newest entry of each log and the fingerprint of the key: write them down outside of Halyard',
    )
    .addOption(jsonOption())
    .action(load(async () => (await import('../audit/audit-log.ts')).printHeads))
  audit
    .command('export <organization>')
    .description('write the log of an organization to standard output, also of a deleted one')
    .addOption(new Option('--format <format>', 'format').choices(['jsonl', 'cef']).default('jsonl'))
    .option('--after <sequence>', 'only entries after this one', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
    .action(load(async () => (await import('../audit/audit-log.ts')).exportLog))
  audit
    .command('set-aside <organization>')
    .description(
      'move the entries of a changed log up to the last one that is at fault to a file, so that the rest verifies; a signed entry says what was wrong and why',
    )
    .requiredOption('--to <file>', 'a new file: keep it, it is the evidence')
    .requiredOption('--reason <text>', 'why the damage is accepted; it stays in the log')
    .action(load(async () => (await import('../audit/audit-log.ts')).setDamageAside))
  audit
    .command('restored')
    .description(
      'after a backup was restored: begin a new segment of each log, which names the head of the backup, and end all sign-ins',
    )
    .action(load(async () => (await import('../audit/audit-log.ts')).beginSegments))
}

/** Messages of the audit log. */
export const audit = {
  audit: {
    title: 'Audit log',
    intro: 'Every change in this organization, with a chain of hashes. Reading it leaves an entry too.',
    search: 'Search',
    person: 'Person',
    anyone: 'Anyone',
    object: 'Object',
    from: 'From',
    to: 'To',
    filter: 'Filter',
    none: 'No matching entries',
    noneText: 'Change the filter to see more.',
    system: 'System',
    commandLine: 'Command line',
    field: 'Field',
    before: 'Before',
    after: 'After',
    hash: 'Hash',
    request: 'Request',
    exportJson: 'Export JSON Lines',
    exportCef: 'Export CEF',
    exportFailed: 'The audit log could not be exported.',
    verify: 'Verify an export:',
  },
}

export type AuditMessages = typeof audit

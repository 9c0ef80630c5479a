import { Kbd, Table } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const t = useMessages()
  const rows: [string, string][] = [
    ['j', t.shortcuts.next],
    ['k', t.shortcuts.previous],
    ['e ↵', t.shortcuts.open],
    ['x', t.shortcuts.select],
    ['t', t.shortcuts.toggle],
    ['u', t.shortcuts.undo],
    ['/', t.shortcuts.search],
    ['n', t.shortcuts.create],
    ['Esc', t.flags.bulkClear],
    ['?', t.shortcuts.help],
    ['Ctrl S', t.shortcuts.save],
    ['Ctrl K', t.shortcuts.palette],
  ]
  return (
    <Dialog onClose={onClose} title={t.shortcuts.title}>
      <Table withRowBorders={false}>
        <Table.Tbody>
          {rows.map(([key, does]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" w={90}>
                <Kbd>{key}</Kbd>
              </Table.Th>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  )
}

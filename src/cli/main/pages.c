/*
 * Generator of the OPTIONS of man pages and of the completion for bash, from the command lines of the subcommands. It
 * runs when the tool is built and is not a part of it.
 *
 *     pages man PAGE        the page, with `.\" OPTIONS NAME` replaced by the options of that subcommand
 *     pages bash
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "cli/main/subcommand_list.h"

/* ---- Man pages --------------------------------------------------------------------------------------------------- */

/* Prints text as mdoc, in which every sentence starts on a new line. */
static void print_mdoc(const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else if (strncmp(at, "…", 3) == 0) {
            fputs("\\&...", stdout);
            at += 2;
        } else
            putchar(*at == ' ' && at > text && at[-1] == '.' && isupper((unsigned char)at[1]) ? '\n' : *at);
    putchar('\n');
}

static void print_option(void *context, const cli_option_t *option)
{
    bool *open = context;
    const char *value = option->value;
    if (!option->name) {
        printf("%s%s:\n", *open ? ".El\n.Pp\n" : "", option->text);
        *open = false;
        return;
    }
    if (!*open)
        puts(".Bl -tag -width Ds");
    *open = true;
    printf(".It ");
    if (option->key < CLI_NO_LETTER)
        printf("Fl %c , ", option->key);
    printf("Fl -%s", option->name);
    if (value && value[0] == '[')
        printf(" Ns Op = Ns Ar %.*s", (int)strlen(value) - 2, value + 1);
    else if (value)
        printf(" Ns = Ns Ar %s", value);
    putchar('\n');
    print_mdoc(option->text);
}

static const cli_command_t *find(const char *name)
{
    for (int i = 0; i < trv_subcommands; i++) {
        const cli_command_t *command = trv_subcommand[i].command;
        if (strcmp(command->name, name) == 0)
            return command;
        for (const cli_command_t *const *part = command->part; part && *part; part++)
            if (strcmp((*part)->name, name) == 0)
                return *part;
    }
    return NULL;
}

static int print_page(const char *path)
{
    static const char mark[] = ".\\\" OPTIONS ";
    char line[4096];
    FILE *page = fopen(path, "r");
    if (!page)
        return perror(path), 2;
    while (fgets(line, sizeof line, page)) {
        if (strncmp(line, mark, strlen(mark)) != 0) {
            fputs(line, stdout);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        const cli_command_t *command = find(line + strlen(mark));
        if (!command)
            return fprintf(stderr, "%s: there is no subcommand '%s'\n", path, line + strlen(mark)), 2;
        bool open = false;
        cli_each_option(command, print_option, &open);
        puts(".El");
    }
    fclose(page);
    return 0;
}

/* ---- Bash -------------------------------------------------------------------------------------------------------- */

static void print_name(void *context, const cli_option_t *option)
{
    (void)context;
    if (option->name)
        printf(" --%s%s", option->name, option->value && option->value[0] != '[' ? "=" : "");
}

/* Prints the completions of an option's value, after `subcommand:--option)`. */
static void print_words(void *context, const cli_option_t *option)
{
    const cli_command_t *command = context;
    if (!option->name || !option->words)
        return;
    printf("    '%s:--%s'", command->name, option->name);
    if (option->key < CLI_NO_LETTER)
        printf("|'%s:-%c'", command->name, option->key);
    printf(") words=\"");
    for (const char *word = option->words; *word;) {
        size_t length = strcspn(word, " ");
        if (strncmp(word, "ALGORITHM", length) == 0)
            printf("$algorithms");
        else
            printf("%.*s", (int)length, word);
        word += length + (word[length] == ' ');
        if (*word)
            putchar(' ');
    }
    puts("\" ;;");
}

static void each_command(void (*visit)(const cli_command_t *command))
{
    for (int i = 0; i < trv_subcommands; i++) {
        const cli_command_t *command = trv_subcommand[i].command;
        visit(command);
        for (const cli_command_t *const *part = command->part; part && *part; part++)
            visit(*part);
    }
}

static void print_names(const cli_command_t *command)
{
    printf("    '%s') words='", command->name);
    for (const cli_command_t *const *part = command->part; part && *part; part++)
        printf(" %s", strchr((*part)->name, ' ') + 1);
    cli_each_option(command, print_name, NULL);
    puts("' ;;");
}

static void print_values(const cli_command_t *command)
{
    cli_each_option(command, print_words, (void *)(uintptr_t)command);
}

static int print_bash(void)
{
    puts("# Completion of bash for trivance, generated from its tables of options.\n"
         "_trivance() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} option='' subcommand=${COMP_WORDS[1]} words='' i");
    printf("    local algorithms='");
    for (int i = 0; i < trv_algorithms_count(); i++)
        printf("%s ", trv_algorithm_name(trv_algorithm_at(i)));
    puts("planned'\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" = 1 ]; then");
    printf("        COMPREPLY=($(compgen -W '");
    for (int i = 0; i < trv_subcommands; i++)
        printf("%s ", trv_subcommand[i].command->name);
    puts("help --help --version' -- \"$current\"))\n"
         "        return\n"
         "    fi\n"
         "    # Arguments of a launcher, and of another program after --, are not completed here.\n"
         "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
         "        [ \"${COMP_WORDS[i]}\" = -- ] && { compopt -o default; return; }\n"
         "    done\n"
         "    [ \"$subcommand\" = testbed ] && [ \"$COMP_CWORD\" -gt 2 ] && subcommand=\"testbed ${COMP_WORDS[2]}\"\n"
         "    # --option=value is three words if = breaks words, as it does by default.\n"
         "    if [ \"$current\" = = ]; then\n"
         "        option=${COMP_WORDS[COMP_CWORD - 1]} current=''\n"
         "    elif [ \"${COMP_WORDS[COMP_CWORD - 1]}\" = = ]; then\n"
         "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    else\n"
         "        option=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    fi\n"
         "    case \"$subcommand:$option\" in");
    each_command(print_values);
    puts("    esac\n"
         "    case \"$words\" in\n"
         "    FILE) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n"
         "    DIR) compopt -o filenames; COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n"
         "    ?*)\n"
         "        # The last entry of a list is completed.\n"
         "        local before=''\n"
         "        [[ $current == *,* ]] && before=${current%,*},\n"
         "        COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"${current##*,}\"))\n"
         "        return ;;\n"
         "    esac\n"
         "    if [[ $current != -* && $subcommand != testbed ]]; then\n"
         "        compopt -o default\n"
         "        return\n"
         "    fi\n"
         "    case \"$subcommand\" in");
    each_command(print_names);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
         "}\n"
         "complete -F _trivance trivance");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "man") == 0)
        return print_page(argv[2]);
    if (argc == 2 && strcmp(argv[1], "bash") == 0)
        return print_bash();
    fputs("Usage: pages man PAGE | pages bash\n", stderr);
    return 2;
}

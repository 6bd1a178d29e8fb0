# Sourced by the scripts that write tables into pages.

# Replaces the lines between two marks of a page by those of a file: fill PAGE MARK FILE
fill() {
    awk -v mark="$2" -v lines="$3" '
        $0 == "<!-- " mark " -->" { print; print ""; while ((getline line < lines) > 0) print line; print ""; skip = 1; next }
        $0 == "<!-- end of " mark " -->" { skip = 0 }
        !skip { print }
    ' "docs/$1.md" >"$3.page"
    cp "$3.page" "docs/$1.md"
}
